// exttasks-session.mjs - one session of the OFFICIAL client of the tasks extension (npm @modelcontextprotocol/ext-tasks) on
// @modelcontextprotocol/client 2.x, in either era, and the steps that the flows share.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { NotApplicable, sleep, versioned } from './options.mjs';

export const EXTTASKS = `${versioned('@modelcontextprotocol/ext-tasks')}, ${versioned('@modelcontextprotocol/client')}`;

const SETTLE_MS = 20_000;
const RAW_MS = 20_000;
const RETENTION_MS = 60_000;
const CANCEL_MS = 5000;
const POLL_MS = 200;
const ACTIVE = new Set(['working', 'input_required']);
const INFO = { name: 'exttasks-client', version: '1.0.0' };
const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const NEGOTIATION = { versionNegotiation: { mode: { pin: MODERN } } };

export function errorOf(e) {
  const { name, code, message, data, cause } = e ?? {};
  return {
    name,
    ...(code === undefined ? {} : { code }),
    message: String(message ?? e),
    ...(data === undefined ? {} : { data }),
    ...(cause ? { cause: errorOf(cause) } : {}),
  };
}

/** {ok: value} or {error: ...}: an error of the peer is evidence, not the end of a flow. */
export async function attempt(step) {
  try {
    return { ok: await step() };
  } catch (e) {
    if (e instanceof NotApplicable) throw e;
    return { error: errorOf(e) };
  }
}

/** Answers whatever is asked, from the profile. */
function answer(profile, { kind, params }) {
  if (kind === 'sampling') return { role: 'assistant', model: 'test-model', content: { type: 'text', text: 'old pond, frog leaps in' } };
  if (kind === 'roots') return { roots: [{ uri: 'file:///work', name: 'work' }] };
  const fields = Object.keys(params.requestedSchema.properties);
  return { action: 'accept', content: Object.fromEntries(fields.map(key => [key, profile.elicitContent[key]])) };
}

/** A client that is not connected yet; what the server sends on its own accord is kept in `seen`. */
function newClient(url, capabilities, options) {
  const seen = { inputs: [], notifications: [], errors: [] };
  const client = new Client(INFO, { capabilities, ...options });
  client.fallbackNotificationHandler = async n => void seen.notifications.push(n);
  return { client, transport: new StreamableHTTPClientTransport(new URL(url)), seen };
}

/** The package on a connected client. */
function openSession({ client, seen }, profile, options) {
  return createTaskSessionFromClient(client, {
    endpointId: 'bridge',
    maxInputRounds: 5,
    onInputRequest: async (request, { delivery, inputId }) => {
      seen.inputs.push({ kind: request.kind, delivery, ...(inputId === undefined ? {} : { inputId }), params: request.params });
      return answer(profile, request);
    },
    onError: e => seen.errors.push(errorOf(e)),
    ...options,
  });
}

/** Connects as a host of 2025-11-25. */
export async function openLegacy(url, profile) {
  const s = newClient(url, { sampling: {}, elicitation: { form: {} } });
  await s.client.connect(s.transport);
  const session = openSession(s, profile);
  const close = () => Promise.allSettled([session.close(), s.client.close()]);
  return { ...s, session, close, task: { retentionMs: RETENTION_MS } };
}

/**
 * Puts requests on the wire as they are, and takes their answers before the SDK's client sees them: under 2026-07-28 the
 * package leaves tools/call and tasks/* to its host. The SDK's transport adds the headers.
 */
function dispatcher(transport) {
  const pending = new Map();
  const toClient = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const settle = !message.method && pending.get(message.id);
    if (settle) settle(message);
    else toClient?.(message, extra);
  };
  return (request, options = {}) =>
    new Promise((resolve, reject) => {
      const id = `raw-${crypto.randomUUID()}`;
      const ended = end => {
        clearTimeout(timer);
        pending.delete(id);
        end();
      };
      const fail = e => ended(() => reject(e));
      const timer = setTimeout(() => fail(new Error(`no answer to ${request.method} after ${RAW_MS} ms`)), RAW_MS);
      pending.set(id, ({ result, error }) => ended(() => resolve(error ? { kind: 'error', error } : { kind: 'result', result })));
      const send = { headers: options.context?.headers, requestSignal: options.signal };
      transport.send({ jsonrpc: '2.0', id, ...request }, send).catch(fail);
    });
}

/** Connects as a host of 2026-07-28 that declares the tasks extension. */
export async function openModern(url, profile) {
  const capabilities = { sampling: {}, roots: {}, elicitation: { form: {} }, extensions: { [`${PREFIX}tasks`]: {} } };
  const s = newClient(url, capabilities, NEGOTIATION);
  await s.client.connect(s.transport);
  const rawDispatch = dispatcher(s.transport);
  const session = openSession(s, profile, {
    rawDispatch,
    v2RequestFraming: { protocolVersion: MODERN, clientInfo: INFO, clientCapabilities: capabilities },
  });
  const _meta = { protocolVersion: MODERN, clientInfo: INFO, clientCapabilities: capabilities };
  const prefixed = Object.fromEntries(Object.entries(_meta).map(([key, value]) => [PREFIX + key, value]));
  const raw = (method, params) => rawDispatch({ method, params: { ...params, _meta: prefixed } });
  const close = () => Promise.allSettled([session.close(), s.client.close()]);
  return { ...s, session, raw, close, task: {} };
}

/** Connects as a host of 2026-07-28 that does not know tasks: the SDK's client alone, which answers questions by itself. */
export async function openUndeclared(url, profile) {
  const s = newClient(url, { sampling: {}, roots: {}, elicitation: { form: {} } }, NEGOTIATION);
  const handle = (method, kind) =>
    s.client.setRequestHandler(method, ({ params }) => {
      s.seen.inputs.push({ kind, params });
      return answer(profile, { kind, params });
    });
  handle('elicitation/create', 'elicitation');
  handle('sampling/createMessage', 'sampling');
  handle('roots/list', 'roots');
  await s.client.connect(s.transport);
  return { ...s, close: () => s.client.close() };
}

/** How a call ended: its outcome with the error spelled out, or that it never did. */
export async function settled(call) {
  const end = await Promise.race([attempt(() => call.settle()), sleep(SETTLE_MS).then(() => `not settled after ${SETTLE_MS} ms`)]);
  const error = end.ok?.outcome?.error;
  return error ? { ok: { ...end.ok, outcome: { ...end.ok.outcome, error: errorOf(error) } } } : end;
}

/** Calls a tool to its end, as a task if that can be had, or as `preference` says. */
export async function call({ session, seen, task }, tool, preference = 'prefer') {
  const running = await session.callTool(tool.name, tool.arguments, { task: { preference, ...(preference === 'prefer' ? task : {}) } });
  const states = [];
  const watch = async () => {
    for await (const e of running.updates()) if (e.type === 'task' && states.at(-1) !== e.task.status) states.push(e.task.status);
  };
  if (running.kind === 'task') watch().catch(e => seen.errors.push(errorOf(e)));
  return {
    kind: running.kind,
    taskId: running.handle?.taskId,
    settled: await settled(running),
    states,
    inputs: seen.inputs,
    errors: seen.errors,
  };
}

/** Calls a tool that has to become a task: the task as it runs. */
export async function start({ session, task }, tool) {
  const running = await session.callTool(tool.name, tool.arguments, { task: { preference: 'prefer', ...task } });
  if (running.kind !== 'task') throw new Error('no task was made');
  return running;
}

/** The state of a task, once it is final; or what it is after some time. */
async function ended({ session }, taskId) {
  for (let end = Date.now() + CANCEL_MS; ;) {
    const snapshot = await attempt(() => session.task(taskId).snapshot());
    if (!ACTIVE.has(snapshot.ok?.status) || Date.now() > end) return snapshot;
    await sleep(POLL_MS);
  }
}

/** The flows that are told in the same way in both eras. */
export const flows = {
  complete: ({ s, tool }) => call(s, tool('complete')),
  instant: ({ s, tool }) => call(s, tool('instant')),
  structured: ({ s, tool }) => call(s, tool('structured')),
  iserror: ({ s, tool }) => call(s, tool('iserror')),
  failed: ({ s, tool }) => call(s, tool('failed')),
  elicit: ({ s, tool }) => call(s, tool('elicit')),
  elicit2: ({ s, tool }) => call(s, tool('elicit2')),
  both: ({ s, tool }) => call(s, tool('both')),
  mrtr: ({ s, tool }) => call(s, tool('mrtr')),
  sample: ({ s, tool }) => call(s, tool('sample')),
  async cancel({ s, tool }) {
    const running = await start(s, tool('slow'));
    await sleep(300);
    const cancelled = await attempt(() => running.cancel());
    return { cancel: cancelled, settled: await settled(running), snapshot: await ended(s, running.handle.taskId) };
  },
  async 'cancel-finished'({ s, tool }) {
    const running = await start(s, tool('instant', 'complete'));
    await settled(running);
    const task = s.session.task(running.handle.taskId);
    return { cancel: await attempt(() => task.cancel()), snapshot: await attempt(() => task.snapshot()) };
  },
};
