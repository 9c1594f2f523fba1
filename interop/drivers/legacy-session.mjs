// legacy-session.mjs - one session of the real TypeScript SDK 1.x client, and the steps that the flows share.
import fs from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as T from '@modelcontextprotocol/sdk/types.js';
import { NotApplicable, sleep } from './options.mjs';

const sdkPackage = path.join(import.meta.dirname, '../node_modules/@modelcontextprotocol/sdk/package.json');
export const SDK = `@modelcontextprotocol/sdk ${JSON.parse(fs.readFileSync(sdkPackage, 'utf8')).version}`;

const TERMINAL = new Set(['completed', 'failed', 'cancelled']);
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

/** Connects as a host with every client capability; what the server sends on its own accord is kept in `seen`. */
export async function connect(url, profile) {
  const seen = { notifications: [], elicitations: [], samplings: [] };
  const clientTasks = { requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } };
  const capabilities = { sampling: {}, elicitation: { form: {} }, tasks: clientTasks };
  const client = new Client({ name: 'ts-legacy-client', version: '1.0.0' }, { capabilities });
  client.setNotificationHandler(T.TaskStatusNotificationSchema, n => void seen.notifications.push(n));
  client.fallbackNotificationHandler = async n => void seen.notifications.push(n);
  client.setRequestHandler(T.ElicitRequestSchema, async ({ params }) => {
    seen.elicitations.push(params);
    return { action: 'accept', content: profile.elicitContent ?? {} };
  });
  client.setRequestHandler(T.CreateMessageRequestSchema, async ({ params }) => {
    seen.samplings.push(params);
    return { role: 'assistant', model: 'test-model', content: { type: 'text', text: 'old pond, frog leaps in' } };
  });
  const transport = new StreamableHTTPClientTransport(new URL(url));
  await client.connect(transport);
  const { tools } = await client.listTools(); // also primes the SDK's output validators, as hosts do
  return { client, transport, seen, tools, tasks: client.experimental.tasks };
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

/** Polls to a terminal status: the last task object, and every status seen on the way without repetitions. */
export async function until(s, taskId, maxMs = 20_000) {
  const statuses = [];
  for (const end = Date.now() + maxMs; Date.now() < end;) {
    const task = await s.tasks.getTask(taskId);
    if (statuses.at(-1) !== task.status) statuses.push(task.status);
    if (TERMINAL.has(task.status)) return { task, statuses };
    await sleep(Math.min(task.pollInterval ?? 500, 500));
  }
  throw new Error(`task not finished after ${maxMs} ms; statuses: ${statuses.join(', ')}`);
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
