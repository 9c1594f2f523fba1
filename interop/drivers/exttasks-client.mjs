// exttasks-client.mjs - the OFFICIAL client of the tasks extension (npm @modelcontextprotocol/ext-tasks) in its 2025-11-25
// era, on @modelcontextprotocol/client 2.x. It hides the task behind one call, polls to the end and never calls tasks/result
// while a question is open: questions have to come by themselves. The command line and the verdicts are those of driver.mjs.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { drive } from './driver.mjs';
import { NotApplicable, sleep, versioned } from './options.mjs';

const SETTLE_MS = 20_000;
const RETENTION_MS = 60_000;

function errorOf(e) {
  const { name, code, message, data, cause } = e ?? {};
  return {
    name,
    ...(code === undefined ? {} : { code }),
    message: String(message ?? e),
    ...(data === undefined ? {} : { data }),
    ...(cause ? { cause: errorOf(cause) } : {}),
  };
}

async function attempt(step) {
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

async function open(url, profile) {
  const seen = { inputs: [], notifications: [], errors: [] };
  const client = new Client({ name: 'exttasks-client', version: '1.0.0' }, { capabilities: { sampling: {}, elicitation: { form: {} } } });
  client.fallbackNotificationHandler = async n => void seen.notifications.push(n);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const session = createTaskSessionFromClient(client, {
    endpointId: 'bridge',
    maxInputRounds: 5,
    onInputRequest: async (request, { delivery }) => {
      seen.inputs.push({ kind: request.kind, delivery, params: request.params });
      return answer(profile, request);
    },
    onError: e => seen.errors.push(errorOf(e)),
  });
  const close = () => Promise.allSettled([session.close(), client.close()]);
  return { client, session, seen, close };
}

const asTask = { task: { preference: 'prefer', retentionMs: RETENTION_MS } };
const plainly = { task: { preference: 'forbid' } };

/** How a call ended: its outcome with the error spelled out, or that it never did. */
async function settled(call) {
  const end = await Promise.race([attempt(() => call.settle()), sleep(SETTLE_MS).then(() => `not settled after ${SETTLE_MS} ms`)]);
  const error = end.ok?.outcome?.error;
  return error ? { ok: { ...end.ok, outcome: { ...end.ok.outcome, error: errorOf(error) } } } : end;
}

/** Calls a tool to its end, task or not. */
async function call({ session, seen }, tool, options = asTask) {
  const running = await session.callTool(tool.name, tool.arguments, options);
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

async function start({ session }, tool) {
  const running = await session.callTool(tool.name, tool.arguments, asTask);
  if (running.kind !== 'task') throw new Error('no task was made');
  return running;
}

const flows = {
  async init({ s }) {
    const { tools } = await s.client.listTools();
    return { protocol: s.client.getNegotiatedProtocolVersion(), capabilities: s.session.capabilities, tools: tools.map(t => t.name) };
  },
  sync: ({ s, tool }) => call(s, tool('sync'), plainly),
  'required-sync': ({ s, tool }) => call(s, tool('required'), plainly),
  complete: ({ s, tool }) => call(s, tool('complete')),
  instant: ({ s, tool }) => call(s, tool('instant')),
  structured: ({ s, tool }) => call(s, tool('structured')),
  iserror: ({ s, tool }) => call(s, tool('iserror')),
  failed: ({ s, tool }) => call(s, tool('failed')),
  hosted: ({ s, tool }) => call(s, tool('sync')),
  'hosted-slow': ({ s, tool }) => call(s, tool('sync-slow')),
  elicit: ({ s, tool }) => call(s, tool('elicit')),
  elicit2: ({ s, tool }) => call(s, tool('elicit2')),
  both: ({ s, tool }) => call(s, tool('both')),
  mrtr: ({ s, tool }) => call(s, tool('mrtr')),
  sample: ({ s, tool }) => call(s, tool('sample')),
  'plain-elicit': ({ s, tool }) => call(s, tool('plain-elicit', 'elicit'), plainly),
  'plain-sample': ({ s, tool }) => call(s, tool('plain-sample', 'sample'), plainly),
  async cancel({ s, tool }) {
    const running = await start(s, tool('slow'));
    await sleep(300);
    const cancelled = await attempt(() => running.cancel());
    const snapshot = await attempt(() => s.session.task(running.handle.taskId).snapshot());
    return { cancel: cancelled, settled: await settled(running), snapshot };
  },
  async 'cancel-finished'({ s, tool }) {
    const running = await start(s, tool('instant'));
    await settled(running);
    const task = s.session.task(running.handle.taskId);
    return { cancel: await attempt(() => task.cancel()), snapshot: await attempt(() => task.snapshot()) };
  },
  async unknown({ s }) {
    const task = s.session.task('no-such-task');
    return { get: await attempt(() => task.snapshot()), cancel: await attempt(() => task.cancel()) };
  },
  async list({ s, tool }) {
    for (let i = 0; i < 12; i++) await start(s, tool('instant'));
    const pages = [];
    for (let cursor; pages.length < 20;) {
      const page = await s.session.listTasks(cursor);
      pages.push(page.tasks.length);
      cursor = page.nextCursor;
      if (!cursor) break;
    }
    return { pages };
  },
};

const name = `${versioned('@modelcontextprotocol/ext-tasks')}, ${versioned('@modelcontextprotocol/client')}`;
await drive({ client: name, file: 'exttasks-client', flows, open });
