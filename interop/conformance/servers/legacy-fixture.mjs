// A 2025-11-25-only MCP server with sessions on @modelcontextprotocol/sdk 1.x, for conformance runs.
// node legacy-fixture.mjs [PORT=18402] [--no-tasks]   (loopback only)
// It announces tasks: slow_compute is `optional`, failing_job, protocol_error_job, confirm_delete, write_haiku and
// multi_input are `required`. With --no-tasks the same tools are plain, and slow.
// It also offers the tools of the 2026-07-28 suite in this era's idiom: test_input_required_result_* and
// test_streaming_elicitation send real elicitation/create, sampling/createMessage and roots/list requests.
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as S from '@modelcontextprotocol/sdk/types.js';
import * as C from './common.mjs';
const PORT = +(process.argv[2] ?? 18402),
  TASKS = !process.argv.includes('--no-tasks'),
  RELATED = 'io.modelcontextprotocol/related-task',
  ANSWER_MS = 120_000;
const SUPPORT = TASKS ? { ...C.TASK_SUPPORT, test_tool_with_task: undefined } : {};
const TOOLS = C.TOOLS.map(t => (SUPPORT[t.name] ? { ...t, execution: { taskSupport: SUPPORT[t.name] } } : t));
const err = (code, message, data) => new S.McpError(code, message, data);
const form = (message, requestedSchema) => ['elicitation/create', { mode: 'form', message, requestedSchema }];
const yes = k => ({ type: 'object', properties: { [k]: { type: 'boolean' } }, required: [k] });
const color = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] };
const context = { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] };
const sample = (t, maxTokens) => [
  'sampling/createMessage',
  { messages: [{ role: 'user', content: { type: 'text', text: t } }], maxTokens },
];
const askName = () => form('What is your name?', C.nameSchema);
const ANSWERS = {
  'elicitation/create': S.ElicitResultSchema,
  'sampling/createMessage': S.CreateMessageResultSchema,
  'roots/list': S.ListRootsResultSchema,
};
const living = new Set(); // every session's server, for what is told to all
const quiet = () => {};
const tellAll = method => living.forEach(s => s[method]().catch(quiet));
// without tasks these tools work a while before they ask, so that a bridge that turns slow calls into tasks sees a slow one
const untilSlow = () => (TASKS ? undefined : C.sleep(700));

// ---- tools: (args, c) => result; c = {ask([method, params]) -> answer, log, progress, caps, signal, close}
const tools = {
  ...C.STATIC,
  async test_tool_with_logging(a, c) {
    for (const [i, m] of ['Tool execution started', 'Tool processing data', 'Tool execution completed'].entries()) {
      if (i) await C.sleep(50);
      await c.log('info', m);
    }
    return C.text('Tool with logging executed successfully');
  },
  async test_tool_with_progress(a, c) {
    for (const p of [0, 50, 100]) {
      await c.progress(p, 100);
      await C.sleep(50);
    }
    return C.text('Progress done');
  },
  async test_logging_tool(a, c) {
    await c.log('info', 'logged unconditionally, as 2025-11-25 servers may');
    return C.text('logged');
  },
  async test_reconnection(a, c) {
    await C.sleep(100);
    c.close?.();
    await C.sleep(300);
    return C.text('Reconnection test completed successfully');
  },
  async test_sampling(a, c) {
    return C.text(`LLM response: ${(await c.ask(sample(a.prompt ?? 'hi', 100))).content?.text}`);
  },
  ...Object.fromEntries(
    Object.keys(C.ELICIT).map(n => [
      n,
      async (a, c) => {
        const r = await c.ask(['elicitation/create', C.ELICIT[n](a)]);
        return C.text(`Elicitation completed: action=${r.action}, content=${JSON.stringify(r.content ?? {})}`);
      },
    ]),
  ),
  async test_missing_capability(a, c) {
    await c.ask(sample('Reply with pong', 16));
    return C.text('sampling done');
  },
  async test_streaming_elicitation(a, c) {
    await c.ask(askName());
    return C.text('done');
  },
  async test_trigger_tool_change() {
    tellAll('sendToolListChanged');
    return C.text('tools changed');
  },
  async test_trigger_prompt_change() {
    tellAll('sendPromptListChanged');
    return C.text('prompts changed');
  },
  async test_input_required_result_elicitation(a, c) {
    return C.text(`Hello, ${(await c.ask(askName())).content?.name}!`);
  },
  async test_input_required_result_sampling(a, c) {
    return C.text(`Sampling: ${(await c.ask(sample('What is the capital of France?', 100))).content?.text}`);
  },
  async test_input_required_result_list_roots(a, c) {
    return C.text(`Roots: ${(await c.ask(['roots/list'])).roots.map(x => x.uri).join(', ')}`);
  },
  async test_input_required_result_request_state(a, c) {
    await c.ask(form('Please confirm', yes('ok')));
    return C.text('state-ok');
  },
  async test_input_required_result_multiple_inputs(a, c) {
    await Promise.all([c.ask(askName()), c.ask(sample('Generate a greeting', 50)), c.ask(['roots/list'])]);
    return C.text('all inputs received');
  },
  async test_input_required_result_multi_round(a, c) {
    const first = await c.ask(form('Step 1: What is your name?', C.nameSchema));
    const second = await c.ask(form('Step 2: What is your favorite color?', color));
    return C.text(`Done: ${first.content?.name} likes ${second.content?.color}`);
  },
  async test_input_required_result_tampered_state(a, c) {
    await c.ask(form('Please confirm', yes('ok')));
    return C.text('untampered');
  },
  async test_input_required_result_capabilities(a, c) {
    const asked = [];
    if (c.caps.elicitation) asked.push(c.ask(askName()));
    if (c.caps.sampling) asked.push(c.ask(sample('Generate a greeting', 50)));
    if (c.caps.roots) asked.push(c.ask(['roots/list']));
    await Promise.all(asked);
    return C.text('capabilities respected');
  },
  async slow_compute(a, c) {
    for (let i = 0; i < (a.seconds ?? 3) * 10 && !c.signal.aborted; i++) await C.sleep(100);
    return C.text(`Computation "${a.label ?? 'default'}" done. Result: 42.`);
  },
  async failing_job() {
    await C.sleep(1000);
    return { ...C.text('simulated failure: job crashed'), isError: true };
  },
  async protocol_error_job() {
    await C.sleep(500);
    throw err(-32603, 'simulated protocol error');
  },
  async confirm_delete(a, c) {
    await untilSlow();
    const r = await c.ask(form(`Delete '${a.filename ?? 'important.txt'}'?`, yes('confirm')));
    return C.text(r.content?.confirm ? 'deleted' : 'kept');
  },
  async write_haiku(a, c) {
    await untilSlow();
    return C.text(`Haiku: ${(await c.ask(sample(`Write a haiku about ${a.topic ?? 'rain'}`, 50))).content?.text}`);
  },
  async multi_input(a, c) {
    await untilSlow();
    return C.text(
      JSON.stringify(await Promise.all([c.ask(form('Enter your name:', C.nameSchema)), c.ask(form('Confirm?', yes('confirm')))])),
    );
  },
  async test_tool_with_task(a, c) {
    const r = await c.ask(askName());
    await C.sleep(1500);
    return C.text(`Hello, ${r.content?.name}! (slow part done)`);
  },
};

// ---- tasks
const tasks = new Map();
const view = ({ taskId, status, createdAt, lastUpdatedAt }) => ({
  taskId,
  status,
  createdAt,
  lastUpdatedAt,
  ttl: 300000,
  pollInterval: 200,
});
const terminal = t => ['completed', 'failed', 'cancelled'].includes(t.status);
const taskOf = id => {
  if (!tasks.has(id)) throw err(-32602, `Task not found: ${id}`);
  return tasks.get(id);
};

/** A task of one session, whose changes `notify` is told of. */
function newTask(notify) {
  const createdAt = new Date().toISOString();
  const t = { taskId: randomUUID(), status: 'working', createdAt, lastUpdatedAt: createdAt, queue: [], open: 0, wake: [] };
  t.abort = new AbortController();
  t.set = patch => {
    if (terminal(t)) return;
    Object.assign(t, patch, { lastUpdatedAt: new Date().toISOString() });
    t.wake.splice(0).forEach(wake => wake());
    notify(view(t));
  };
  // what a task asks is queued, and goes out on the stream of tasks/result
  t.ask = ([method, params]) =>
    new Promise((resolve, reject) => {
      const answered = v => {
        if (!--t.open) t.set({ status: 'working' });
        resolve(v);
      };
      t.open++;
      t.queue.push({ method, params, answered, reject });
      t.set({ status: 'input_required' });
    });
  tasks.set(t.taskId, t);
  return t;
}

async function run(t, work) {
  try {
    const result = await work();
    t.set({ status: result.isError ? 'failed' : 'completed', result });
  } catch (error) {
    t.set({ status: 'failed', error });
  }
}

async function taskResult({ params }, extra) {
  const t = taskOf(params.taskId),
    _meta = { [RELATED]: { taskId: t.taskId } };
  while (!terminal(t)) {
    for (const { method, params: asked, answered, reject } of t.queue.splice(0)) {
      extra
        .sendRequest({ method, params: { ...asked, _meta } }, ANSWERS[method], { timeout: ANSWER_MS })
        .then(answered)
        .catch(reject);
    }
    if (!terminal(t) && !t.queue.length) await new Promise(wake => t.wake.push(wake));
  }
  if (t.error) throw t.error;
  if (t.status === 'cancelled') throw err(-32602, 'Task was cancelled');
  return { ...t.result, _meta: { ...t.result._meta, ..._meta } };
}

function cancelTask({ params }) {
  const t = taskOf(params.taskId);
  if (terminal(t)) throw err(-32602, `Cannot cancel task in terminal status ${t.status}`);
  t.abort.abort();
  t.set({ status: 'cancelled', statusMessage: 'cancelled' });
  return view(t);
}

// ---- one server a session
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
  ...(TASKS ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } } : {}),
};

/** What a tool or a prompt can do while it is called. */
function callContext(server, extra, params) {
  const progressToken = params._meta?.progressToken;
  const notify = (method, p) => extra.sendNotification({ method, params: p });
  return {
    caps: server.getClientCapabilities() ?? {},
    signal: extra.signal,
    close: extra.closeSSEStream,
    ask: ([method, p]) => extra.sendRequest({ method, ...(p ? { params: p } : {}) }, ANSWERS[method], { timeout: ANSWER_MS }),
    log: (level, data) => notify('notifications/message', { level, logger: 'fixture', data }),
    progress: (progress, total) =>
      progressToken === undefined ? undefined : notify('notifications/progress', { progressToken, progress, total }),
  };
}

async function callTool(server, p, extra) {
  const tool = tools[p.name],
    support = SUPPORT[p.name],
    args = p.arguments ?? {},
    c = callContext(server, extra, p);
  if (!tool) throw err(-32602, `Unknown tool: ${p.name}`);
  if (p.task && !support) throw err(-32601, `Tool ${p.name} does not support tasks`);
  if (!p.task && support === 'required') throw err(-32601, `Tool ${p.name} requires task augmentation`);
  if (!p.task) return tool(args, c);
  const t = newTask(params => server.notification({ method: 'notifications/tasks/status', params }).catch(quiet));
  const created = { task: view(t) };
  run(t, () => tool(args, { ...c, ask: t.ask, signal: t.abort.signal, log: quiet, progress: quiet }));
  return created;
}

async function getPrompt(server, p, extra) {
  if (p.name === 'test_input_required_result_prompt') {
    const r = await callContext(server, extra, p).ask(form('What context should the prompt use?', context));
    return { messages: [{ role: 'user', content: { type: 'text', text: `Context: ${r.content?.context}` } }] };
  }
  const prompt = C.getPrompt(p.name, p.arguments);
  if (!prompt) throw err(-32602, 'Unknown prompt');
  return prompt;
}

function readResource(uri) {
  const resource = C.readResource(uri);
  if (!resource) throw err(-32002, 'Resource not found', { uri });
  return resource;
}

function makeServer() {
  const s = new Server({ name: 'legacy-fixture', version: '1.0.0' }, { capabilities: CAPABILITIES });
  const watched = 'test://watched-resource',
    subscribed = new Set();
  const tick = setInterval(() => subscribed.has(watched) && s.sendResourceUpdated({ uri: watched }).catch(quiet), 3000);
  tick.unref();
  living.add(s);
  s.onclose = () => {
    living.delete(s);
    clearInterval(tick);
  };
  s.setRequestHandler(S.ListToolsRequestSchema, () => ({ tools: TOOLS }));
  s.setRequestHandler(S.CallToolRequestSchema, ({ params }, extra) => callTool(s, params, extra));
  if (TASKS) {
    s.setRequestHandler(S.GetTaskRequestSchema, ({ params }) => view(taskOf(params.taskId)));
    s.setRequestHandler(S.ListTasksRequestSchema, () => ({ tasks: [...tasks.values()].map(view) }));
    s.setRequestHandler(S.CancelTaskRequestSchema, cancelTask);
    s.setRequestHandler(S.GetTaskPayloadRequestSchema, taskResult);
  }
  s.setRequestHandler(S.ListResourcesRequestSchema, () => ({ resources: C.RESOURCES }));
  s.setRequestHandler(S.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: C.TEMPLATES }));
  s.setRequestHandler(S.ReadResourceRequestSchema, ({ params }) => readResource(params.uri));
  s.setRequestHandler(S.SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
  s.setRequestHandler(S.UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
  s.setRequestHandler(S.SetLevelRequestSchema, () => ({}));
  s.setRequestHandler(S.ListPromptsRequestSchema, () => ({ prompts: C.PROMPTS }));
  s.setRequestHandler(S.GetPromptRequestSchema, ({ params }, extra) => getPrompt(s, params, extra));
  s.setRequestHandler(S.CompleteRequestSchema, () => C.COMPLETION);
  return s;
}

/** What one session's streams have carried, for clients that come back with Last-Event-ID. */
function eventStore() {
  const events = [];
  const streamOf = id => id.split('::')[0];
  return {
    async storeEvent(streamId, message) {
      const id = `${streamId}::${String(events.length + 1).padStart(8, '0')}`;
      events.push({ id, streamId, message });
      return id;
    },
    async getStreamIdForEventId(id) {
      return streamOf(id);
    },
    async replayEventsAfter(last, { send }) {
      const missed = events.filter(e => e.streamId === streamOf(last) && e.id > last);
      for (const e of missed) if (e.message && Object.keys(e.message).length) await send(e.id, e.message);
      return streamOf(last);
    },
  };
}

// ---- HTTP
const sessions = new Map();
async function openSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: eventStore(),
    retryInterval: 500,
    onsessioninitialized: id => sessions.set(id, transport),
  });
  await makeServer().connect(transport);
  const closed = transport.onclose;
  transport.onclose = () => {
    sessions.delete(transport.sessionId);
    closed?.();
  };
  return transport;
}

http
  .createServer(async (req, res) => {
    const refuse = (status, code, message) => {
      res.writeHead(status, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
    };
    if (!C.hostOk(req)) return refuse(403, -32000, 'Invalid Host');
    const id = req.headers['mcp-session-id'];
    if (id) return sessions.has(id) ? sessions.get(id).handleRequest(req, res) : refuse(404, -32001, 'Session not found');
    if (req.method !== 'POST') return refuse(400, -32000, 'Bad Request: Mcp-Session-Id required');
    let message;
    try {
      message = JSON.parse(await C.body(req));
    } catch {
      return refuse(400, -32700, 'Parse error');
    }
    if (!S.isInitializeRequest(message)) return refuse(400, -32000, 'Bad Request: Server not initialized');
    await (await openSession()).handleRequest(req, res, message);
  })
  .listen(PORT, '127.0.0.1', () => console.log(`legacy-fixture (2025-11-25${TASKS ? ' + tasks' : ''}) http://127.0.0.1:${PORT}/mcp`));
