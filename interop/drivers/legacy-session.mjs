// legacy-session.mjs - one session of the real TypeScript SDK 1.x client, and the steps that the flows share.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as T from '@modelcontextprotocol/sdk/types.js';
import { NotApplicable, sleep, versioned } from './options.mjs';

export const SDK = versioned('@modelcontextprotocol/sdk');

const TERMINAL = new Set(['completed', 'failed', 'cancelled']);
const ANSWER_MS = 100; // nobody answers a form at once
export const TASK = { ttl: 60_000 };
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

const errorOf = e => ({ code: e?.code, message: e?.message, ...(e?.data === undefined ? {} : { data: e.data }) });

/** {ok: value} or {error: {code, message, data?}}: an error of the peer is evidence, not the end of a flow. */
export async function attempt(step) {
  try {
    return { ok: await step() };
  } catch (e) {
    if (e instanceof NotApplicable) throw e;
    return { error: errorOf(e) };
  }
}

const CAPABILITIES = {
  sampling: {},
  elicitation: { form: {} },
  roots: {},
  tasks: { requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
};

/** Fills in a form with what the profile has for its fields. */
export const accept = (profile, params) => ({
  action: 'accept',
  content: Object.fromEntries(Object.keys(params.requestedSchema.properties).map(key => [key, profile.elicitContent[key]])),
});

/**
 * Connects as a host with every client capability, or those given; what the server sends on its own accord is kept in
 * `seen`. `answers` may be changed while connected: how the host answers, given the params and the SDK's extra.
 */
export async function connect(url, profile, capabilities = CAPABILITIES) {
  const seen = { notifications: [], elicitations: [], samplings: [], roots: 0 };
  const answers = {
    elicit: params => accept(profile, params),
    sample: () => ({ role: 'assistant', model: 'test-model', content: { type: 'text', text: 'old pond, frog leaps in' } }),
  };
  const client = new Client({ name: 'ts-legacy-client', version: '1.0.0' }, { capabilities });
  client.setNotificationHandler(T.TaskStatusNotificationSchema, n => void seen.notifications.push(n));
  client.fallbackNotificationHandler = async n => void seen.notifications.push(n);
  const handle = (declared, schema, handler) => declared && client.setRequestHandler(schema, handler);
  handle(capabilities.elicitation, T.ElicitRequestSchema, async ({ params }, extra) => {
    seen.elicitations.push(params);
    await sleep(ANSWER_MS);
    return answers.elicit(params, extra);
  });
  handle(capabilities.sampling, T.CreateMessageRequestSchema, async ({ params }) => {
    seen.samplings.push(params);
    return answers.sample(params);
  });
  handle(capabilities.roots, T.ListRootsRequestSchema, async () => {
    seen.roots++;
    return { roots: [{ uri: 'file:///work', name: 'work' }] };
  });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const { tools } = await client.listTools(); // also primes the SDK's output validators, as hosts do
  return { client, transport, seen, answers, tools, tasks: client.experimental.tasks, close: () => client.close() };
}

/** Sends a request past the SDK's own checks and returns the result as it came. */
export const raw = (s, method, params) => s.client.request({ method, params }, T.ResultSchema);

/** Calls a tool as a task; the SDK refuses anything but a CreateTaskResult. */
export const create = (s, tool, task = TASK) =>
  s.client.request({ method: 'tools/call', params: tool }, T.CreateTaskResultSchema, { task });

/** tasks/result as a CallToolResult, or the error it gave. */
export const result = (s, taskId, options) => attempt(() => s.tasks.getTaskResult(taskId, T.CallToolResultSchema, options));

export const get = (s, taskId) => attempt(() => s.tasks.getTask(taskId));
export const cancel = (s, taskId) => attempt(() => s.tasks.cancelTask(taskId));

/** Whether a status is final, and whether it is final or a question is open. */
export const isEnd = status => TERMINAL.has(status);
export const isAsking = status => status === 'input_required' || isEnd(status);

/** Polls until a status is reached: the last task object, and every status seen on the way without repetitions. */
export async function until(s, taskId, reached = isEnd, maxMs = 20_000) {
  const statuses = [];
  for (const end = Date.now() + maxMs; Date.now() < end;) {
    const task = await s.tasks.getTask(taskId);
    if (statuses.at(-1) !== task.status) statuses.push(task.status);
    if (reached(task.status)) return { task, statuses };
    await sleep(Math.min(task.pollInterval ?? 500, 500));
  }
  throw new Error(`task did not get there in ${maxMs} ms; statuses: ${statuses.join(', ')}`);
}

/** Drives a tool through the SDK's callToolStream: what it yielded, in order and without repetitions. */
export async function stream(s, tool, options = {}) {
  const events = [];
  for await (const m of s.tasks.callToolStream(tool, T.CallToolResultSchema, { task: TASK, ...options })) {
    if (m.type === 'result') events.push({ result: m.result });
    else if (m.type === 'error') events.push({ error: errorOf(m.error) });
    else if (events.at(-1) !== `${m.type} ${m.task.status}`) events.push(`${m.type} ${m.task.status}`);
  }
  return events;
}
