// modern-walk.mjs - speaks 2026-07-28 with the tasks extension to a server, request by request and without any SDK,
// and records each flow. It only shows what is on the wire; it judges nothing.
//
//   node modern-walk.mjs URL FLOW[,FLOW...]|all --profile NAME --record-dir DIR [--profiles FILE]
//
// Exit 0 when every flow ran, 1 when one broke off, 2 for a mistake in the command.
import path from 'node:path';
import { NotApplicable, readFlows, readOptions, readProfile, sleep, toolOf, usage } from './options.mjs';
import { startRecorder } from './recorder.mjs';

const VERSION = '2026-07-28';
const RESERVED = 'io.modelcontextprotocol/';
const TASKS = `${RESERVED}tasks`;
const TERMINAL = new Set(['completed', 'failed', 'cancelled']);
const POLL_MS = 100;
const WAIT_MS = 15_000;

/** The reserved `_meta` members of a request, with or without the tasks extension declared. */
const envelope = declare => ({
  [`${RESERVED}protocolVersion`]: VERSION,
  [`${RESERVED}clientInfo`]: { name: 'modern-walk', version: '1.0.0' },
  [`${RESERVED}clientCapabilities`]: { elicitation: {}, sampling: {}, ...(declare ? { extensions: { [TASKS]: {} } } : {}) },
});

/** A sender of modern requests to one URL. */
function modernClient(url) {
  let lastId = 0;

  async function post(body, headers, timeout = 10_000) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
    });
    const text = await answer.text();
    const json = answer.headers.get('content-type')?.startsWith('text/event-stream') ? lastEvent(text) : text;
    return json ? JSON.parse(json) : undefined;
  }

  const lastEvent = text =>
    text
      .split(/\r?\n/)
      .filter(l => l.startsWith('data:'))
      .at(-1)
      ?.slice(5);

  /** One request with the whole envelope. options: declare (the tasks extension, default true), meta, timeout. */
  function request(method, params = {}, { declare = true, meta = {}, timeout } = {}) {
    const _meta = { ...envelope(declare), ...meta };
    const name = params.taskId ?? params.name;
    const headers = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': method, ...(name ? { 'Mcp-Name': name } : {}) };
    return post({ jsonrpc: '2.0', id: ++lastId, method, params: { ...params, _meta } }, headers, timeout);
  }

  async function create(tool) {
    const answer = await request('tools/call', tool);
    if (!answer.result?.taskId) throw new Error(`no task was made: ${JSON.stringify(answer)}`);
    return answer.result.taskId;
  }

  async function until(taskId, reached = status => TERMINAL.has(status)) {
    for (const end = Date.now() + WAIT_MS; Date.now() < end; await sleep(POLL_MS)) {
      const { result } = await request('tasks/get', { taskId });
      if (reached(result?.status)) return result;
    }
    throw new Error(`task ${taskId} did not get there in ${WAIT_MS} ms`);
  }

  return { post, request, create, until };
}

/** What a user or a model answers to one question. */
function answerTo({ method, params }, content) {
  if (method === 'sampling/createMessage') return { role: 'assistant', model: 'test-model', content: { type: 'text', text: 'old pond' } };
  const fields = Object.keys(params.requestedSchema.properties);
  return { action: 'accept', content: Object.fromEntries(fields.map(key => [key, content[key]])) };
}

const answersTo = (questions, content) => Object.fromEntries(Object.entries(questions).map(([key, q]) => [key, answerTo(q, content)]));

/** A task that asks: its questions are answered, those of one poll one by one, until it ends. */
async function interview(c, tool, content) {
  const taskId = await c.create(tool);
  for (;;) {
    const { status, inputRequests } = await c.until(taskId, s => s === 'input_required' || TERMINAL.has(s));
    if (TERMINAL.has(status)) return;
    for (const [key, answer] of Object.entries(answersTo(inputRequests, content))) {
      await c.request('tasks/update', { taskId, inputResponses: { [key]: answer } });
      await c.request('tasks/get', { taskId });
    }
  }
}

/** The usual life of a task, and one more look at the end of it. */
async function life(c, tool) {
  const taskId = await c.create(tool);
  await c.until(taskId);
  await c.request('tasks/get', { taskId });
}

const flows = {
  async discover(c) {
    await c.request('server/discover');
    await c.request('server/discover', {}, { declare: false });
  },
  'tools-list': c => c.request('tools/list'),
  complete: (c, tool) => life(c, tool('complete')),
  instant: (c, tool) => life(c, tool('instant')),
  failed: (c, tool) => life(c, tool('failed')),
  iserror: (c, tool) => life(c, tool('iserror')),
  structured: (c, tool) => life(c, tool('structured')),
  async cancel(c, tool) {
    const taskId = await c.create(tool('slow'));
    await c.request('tasks/cancel', { taskId });
    await c.request('tasks/get', { taskId });
    await c.request('tasks/cancel', { taskId });
  },
  async 'cancel-finished'(c, tool) {
    for (const key of ['instant', 'failed']) {
      const taskId = await c.create(tool(key));
      await c.until(taskId);
      await c.request('tasks/cancel', { taskId });
      await c.request('tasks/get', { taskId });
    }
  },
  async unknown(c) {
    const taskId = 'no-such-task';
    await c.request('tasks/get', { taskId });
    await c.request('tasks/cancel', { taskId });
    await c.request('tasks/update', { taskId, inputResponses: {} });
  },
  sync: (c, tool) => c.request('tools/call', tool('sync')),
  // what the task tools do for a caller that did not declare the extension
  async undeclared(c, tool) {
    for (const key of ['instant', 'failed', 'iserror', 'required']) await c.request('tools/call', tool(key), { declare: false });
    await c.request('tasks/get', { taskId: 'no-such-task' }, { declare: false });
  },
  progress: (c, tool) => c.request('tools/call', tool('progress'), { meta: { progressToken: 'walk-1' } }),
  async 'unknown-tool'(c) {
    await c.request('tools/call', { name: 'no_such_tool', arguments: {} });
  },
  'bad-arguments': (c, tool) => c.request('tools/call', { name: tool('complete').name, arguments: { ms: 'soon', seconds: 'soon' } }),
  async elicit(c, tool) {
    const taskId = await c.create(tool('elicit'));
    const { inputRequests } = await c.until(taskId, status => status === 'input_required');
    await c.request('tasks/update', { taskId, inputResponses: { nobody: { action: 'cancel' } } });
    const [key] = Object.keys(inputRequests);
    await c.request('tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content: tool('elicitContent') } } });
    await c.until(taskId);
  },
  elicit2: (c, tool) => interview(c, tool('elicit2'), tool('elicitContent')),
  both: (c, tool) => interview(c, tool('both'), tool('elicitContent')),
  sample: (c, tool) => interview(c, tool('sample')),
  // a plain call that asks: it is made again with the answers, and with the state if there was one
  async rounds(c, tool) {
    const call = tool('elicit2');
    let { result } = await c.request('tools/call', call, { declare: false });
    while (result.resultType === 'input_required') {
      const { inputRequests, requestState } = result;
      const more = { inputResponses: answersTo(inputRequests, tool('elicitContent')), ...(requestState ? { requestState } : {}) };
      ({ result } = await c.request('tools/call', { ...call, ...more }, { declare: false }));
    }
  },
  async listen(c, tool) {
    const taskId = await c.create(tool('complete'));
    const notifications = { taskIds: [taskId], toolsListChanged: true };
    await c.request('subscriptions/listen', { notifications }, { timeout: 2500 }).catch(e => {
      if (e.name !== 'TimeoutError') throw e; // a stream that stays open is read for as long as the task needs
    });
  },
  // requests that lack something a client is told to send
  async edges(c) {
    const body = { jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: envelope(true) } };
    const headers = { 'MCP-Protocol-Version': VERSION, 'Mcp-Method': 'server/discover' };
    await c.post(body, { ...headers, Accept: 'application/json' });
    await c.post(body, { 'Mcp-Method': 'server/discover' });
    await c.post(body, { 'MCP-Protocol-Version': VERSION });
    await c.post({ ...body, params: {} }, headers);
  },
  // the methods of the other era, and its handshake on the same URL
  async 'other-era'(c, tool) {
    const taskId = await c.create(tool('instant'));
    await c.request('tasks/list');
    await c.request('tasks/result', { taskId });
    await c.request('tools/call', { ...tool('sync'), task: { ttl: 60000 } });
    const clientInfo = { name: 'modern-walk', version: '1.0.0' };
    await c.post(
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
      {},
    );
  },
};

const options = readOptions({
  options: {
    profile: { type: 'string' },
    profiles: { type: 'string', default: path.join(import.meta.dirname, '../profiles.json') },
    'record-dir': { type: 'string' },
  },
  positionals: ['url', 'flows'],
  help: `usage: modern-walk.mjs URL FLOW[,FLOW...]|all --profile NAME --record-dir DIR [--profiles FILE]\nflows: ${Object.keys(flows).join(' ')}`,
});
const profile = readProfile(options.profiles, options.profile);
const asked = readFlows(options.flows, Object.keys(flows));
const dir = options['record-dir'] ?? usage('--record-dir is missing');

let failed = 0;
for (const flow of asked) {
  const note = `modern-walk, flow ${flow}, profile ${options.profile}`;
  const rec = await startRecorder({ target: options.url, out: path.join(dir, `modern-walk-${flow}.jsonl`), note });
  const verdict = { flow, ok: true };
  try {
    await flows[flow](modernClient(rec.url), (...keys) => toolOf(profile, ...keys));
  } catch (e) {
    if (e instanceof NotApplicable) verdict.notApplicable = e.message;
    else Object.assign(verdict, { ok: false, error: e.message });
  }
  failed += verdict.ok ? 0 : 1;
  rec.log({ ev: 'note', verdict });
  await rec.close();
  console.log(JSON.stringify(verdict));
}
process.exit(failed ? 1 : 0);
