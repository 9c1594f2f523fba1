// A 2026-07-28-only MCP server with io.modelcontextprotocol/tasks, for conformance runs. No dependencies.
// node modern-fixture.mjs [PORT=18401]   (loopback only)   env NO_TASKS=1 drops the tasks extension.
// It also offers the 2025-11-25 suite's tools in this era's idiom: test_elicitation/test_sampling/sep1034/sep1330
// answer with input_required (MRTR); test_tool_with_logging honours _meta logLevel.
import http from 'node:http';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import * as C from './common.mjs';
const PORT = +(process.argv[2] ?? process.env.PORT ?? 18401),
  V = '2026-07-28',
  M = 'io.modelcontextprotocol/',
  TASKS = `${M}tasks`,
  withTasks = !process.env.NO_TASKS;
const INFO = { name: 'modern-fixture', version: '1.0.0' },
  META = { [`${M}serverInfo`]: INFO };
const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
class RpcError extends Error {
  constructor(code, message, data, http = 200) {
    super(message);
    Object.assign(this, { code, data, http });
  }
}
const need = caps => new RpcError(-32021, 'Missing required client capability', { requiredCapabilities: caps }, 400);
const key = randomBytes(32),
  sign = o => {
    const b = Buffer.from(JSON.stringify(o)).toString('base64url');
    return `${b}.${createHmac('sha256', key).update(b).digest('base64url')}`;
  };
const unsign = s => {
  const [b, m, x] = String(s).split('.');
  if (x !== undefined || !m || createHmac('sha256', key).update(b).digest('base64url') !== m)
    throw new RpcError(-32602, 'requestState failed integrity verification');
  return JSON.parse(Buffer.from(b, 'base64url'));
};
const IR = (inputRequests, state) => ({
  resultType: 'input_required',
  inputRequests,
  ...(state !== undefined ? { requestState: sign(state) } : {}),
});
const elicit = params => ({ method: 'elicitation/create', params }),
  form = (message, requestedSchema) => elicit({ mode: 'form', message, requestedSchema });
const sample = (t, maxTokens) => ({
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: t } }], maxTokens },
  }),
  roots = () => ({ method: 'roots/list', params: {} });
const isObj = v => v !== null && typeof v === 'object' && !Array.isArray(v);
const accepted = (r, k) => (isObj(r[k]) && typeof r[k].action === 'string' ? r[k] : undefined);
const askName = () => form('What is your name?', C.nameSchema);
const needCaps = (c, ...names) => {
  const miss = names.filter(n => !c.caps[n]);
  if (miss.length) throw need(Object.fromEntries(miss.map(n => [n, {}])));
};
// ---- tools: (args, c) => result; c = {caps, resp, state, log, progress, task, signal}
const tools = {
  ...C.STATIC,
  async test_tool_with_logging(a, c) {
    for (const [i, m] of ['Tool execution started', 'Tool processing data', 'Tool execution completed'].entries()) {
      if (i) await C.sleep(50);
      c.log('info', m);
    }
    return C.text('Tool with logging executed successfully');
  },
  async test_tool_with_progress(a, c) {
    for (const p of [0, 50, 100]) {
      c.progress(p, 100);
      await C.sleep(50);
    }
    return C.text('Progress done');
  },
  async test_logging_tool(a, c) {
    c.log('info', 'only when logLevel is set');
    return C.text('logged');
  },
  async test_reconnection() {
    await C.sleep(1500); // too long to be answered without a stream, which is what the scenario looks at
    return C.text('Reconnection test completed successfully');
  },
  test_sampling(a, c) {
    needCaps(c, 'sampling');
    return isObj(c.resp.s) ? C.text(`LLM response: ${c.resp.s.content?.text}`) : IR({ s: sample(a.prompt ?? 'hi', 100) });
  },
  ...Object.fromEntries(
    Object.keys(C.ELICIT).map(n => [
      n,
      (a, c) => {
        needCaps(c, 'elicitation');
        const r = accepted(c.resp, 'e');
        return r
          ? C.text(`Elicitation completed: action=${r.action}, content=${JSON.stringify(r.content ?? {})}`)
          : IR({ e: elicit(C.ELICIT[n](a)) });
      },
    ]),
  ),
  test_missing_capability(a, c) {
    needCaps(c, 'sampling');
    return isObj(c.resp.s) ? C.text('sampling done') : IR({ s: sample('Reply with pong', 16) });
  },
  test_streaming_elicitation(a, c) {
    needCaps(c, 'elicitation');
    return accepted(c.resp, 'user_name') ? C.text('done') : IR({ user_name: askName() });
  },
  test_trigger_tool_change() {
    publish('tools/list_changed', f => f.toolsListChanged);
    return C.text('tools changed');
  },
  test_trigger_prompt_change() {
    publish('prompts/list_changed', f => f.promptsListChanged);
    return C.text('prompts changed');
  },
  test_input_required_result_elicitation(a, c) {
    needCaps(c, 'elicitation');
    const r = accepted(c.resp, 'user_name');
    return r ? C.text(`Hello, ${r.content?.name}!`) : IR({ user_name: askName() });
  },
  test_input_required_result_sampling(a, c) {
    needCaps(c, 'sampling');
    const r = c.resp.capital_question;
    return isObj(r) ? C.text(`Sampling: ${r.content?.text}`) : IR({ capital_question: sample('What is the capital of France?', 100) });
  },
  test_input_required_result_list_roots(a, c) {
    needCaps(c, 'roots');
    const r = c.resp.client_roots;
    return isObj(r) ? C.text(`Roots: ${(r.roots ?? []).map(x => x.uri).join(', ')}`) : IR({ client_roots: roots() });
  },
  test_input_required_result_request_state(a, c) {
    needCaps(c, 'elicitation');
    const r = accepted(c.resp, 'confirm');
    if (r) {
      unsign(c.state);
      return C.text('state-ok');
    }
    return IR(
      { confirm: form('Please confirm', { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }) },
      { t: 'rs' },
    );
  },
  test_input_required_result_multiple_inputs(a, c) {
    needCaps(c, 'elicitation', 'sampling', 'roots');
    if (accepted(c.resp, 'user_name') && isObj(c.resp.greeting) && isObj(c.resp.client_roots)) {
      unsign(c.state);
      return C.text('all inputs received');
    }
    return IR({ user_name: askName(), greeting: sample('Generate a greeting', 50), client_roots: roots() }, { t: 'mi' });
  },
  test_input_required_result_multi_round(a, c) {
    needCaps(c, 'elicitation');
    const s = c.state === undefined ? {} : unsign(c.state);
    if (s.r === 2 && accepted(c.resp, 'step2')) return C.text(`Done: ${s.name} likes ${c.resp.step2.content?.color}`);
    if (s.r === 1 && accepted(c.resp, 'step1'))
      return IR(
        {
          step2: form('Step 2: What is your favorite color?', {
            type: 'object',
            properties: { color: { type: 'string' } },
            required: ['color'],
          }),
        },
        { r: 2, name: c.resp.step1.content?.name },
      );
    return IR({ step1: form('Step 1: What is your name?', C.nameSchema) }, { r: 1 });
  },
  test_input_required_result_tampered_state(a, c) {
    needCaps(c, 'elicitation');
    if (c.state !== undefined) {
      unsign(c.state);
      if (accepted(c.resp, 'confirm')) return C.text('untampered');
    }
    return IR(
      { confirm: form('Please confirm', { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }) },
      { t: 'ts' },
    );
  },
  test_input_required_result_capabilities(a, c) {
    const q = {};
    if (c.caps.elicitation && !accepted(c.resp, 'user_name')) q.user_name = askName();
    if (c.caps.sampling && !isObj(c.resp.greeting)) q.greeting = sample('Generate a greeting', 50);
    if (c.caps.roots && !isObj(c.resp.client_roots)) q.client_roots = roots();
    return Object.keys(q).length ? IR(q) : C.text('capabilities respected');
  },
  // ---- task fixtures. c.task is set when running inside a task; c.ask(requests) parks it in input_required.
  async slow_compute(a, c) {
    for (let i = 0; i < (a.seconds ?? 3) * 10; i++) {
      if (c.signal?.aborted) break;
      await C.sleep(100);
    }
    return C.text(`Computation "${a.label ?? 'default'}" done. Result: 42.`);
  },
  async failing_job() {
    await C.sleep(1000);
    return { ...C.text('simulated failure: job crashed'), isError: true };
  },
  async protocol_error_job() {
    await C.sleep(500);
    throw new RpcError(-32603, 'simulated protocol error');
  },
  async confirm_delete(a, c) {
    const r = await c.ask({
      confirm: form(`Delete '${a.filename ?? 'important.txt'}'?`, {
        type: 'object',
        properties: { confirm: { type: 'boolean' } },
        required: ['confirm'],
      }),
    });
    return C.text(r.confirm?.content?.confirm ? 'deleted' : 'kept');
  },
  async write_haiku(a, c) {
    const r = await c.ask({ haiku: sample(`Write a haiku about ${a.topic ?? 'bridges'}`, 50) });
    return C.text(`Haiku: ${r.haiku?.content?.text}`);
  },
  async multi_input(a, c) {
    const r = await c.ask({
      name: form('Enter your name:', C.nameSchema),
      confirm: form('Confirm?', { type: 'object', properties: { confirm: { type: 'boolean' } }, required: ['confirm'] }),
    });
    return C.text(JSON.stringify(r));
  },
  async test_tool_with_task(a, c) {
    await C.sleep(300);
    return C.text(`Hello, ${c.resp.user_name?.content?.name}! (computed in task)`);
  },
};
// ---- tasks
const tasks = new Map();
const view = t => ({
  taskId: t.taskId,
  status: t.status,
  createdAt: t.createdAt,
  lastUpdatedAt: t.lastUpdatedAt,
  ttlMs: 300000,
  pollIntervalMs: 200,
  ...(t.status === 'completed' ? { result: t.result } : {}),
  ...(t.status === 'failed' ? { error: t.error } : {}),
  ...(t.status === 'input_required' ? { inputRequests: Object.fromEntries(t.pending) } : {}),
});
const set = (t, patch) => {
  if (['completed', 'failed', 'cancelled'].includes(t.status)) return;
  Object.assign(t, patch, { lastUpdatedAt: new Date().toISOString() });
  publish('tasks', f => f.taskIds?.includes(t.taskId), view(t));
};
function startTask(name, a, c) {
  const now = new Date().toISOString(),
    ac = new AbortController();
  const t = { taskId: randomUUID(), status: 'working', createdAt: now, lastUpdatedAt: now, pending: new Map(), answers: {}, ac };
  tasks.set(t.taskId, t);
  const ask = reqs =>
    new Promise(res => {
      t.pending = new Map(Object.entries(reqs));
      t.done = res;
      set(t, { status: 'input_required' });
    });
  const seed = view(t);
  (async () => {
    try {
      set(t, {
        status: 'completed',
        result: { ...(await tools[name](a, { ...c, task: t, ask, signal: ac.signal, log() {}, progress() {} })), resultType: 'complete' },
      });
    } catch (e) {
      set(t, { status: 'failed', error: { code: e.code ?? -32603, message: e.message } });
    }
  })();
  return { resultType: 'task', ...seed };
}
const getTask = p => {
  const t = tasks.get(p.taskId);
  if (!t) throw new RpcError(-32602, 'Unknown taskId');
  return t;
};
// ---- subscriptions
const subs = new Set();
function publish(what, want, params = {}) {
  for (const s of subs)
    if (want(s.filter))
      s.send({ jsonrpc: '2.0', method: `notifications/${what}`, params: { ...params, _meta: { [`${M}subscriptionId`]: s.id } } });
}
setInterval(
  () => publish('resources/updated', f => f.resourceSubscriptions?.includes('test://watched-resource'), { uri: 'test://watched-resource' }),
  3000,
).unref();
// ---- methods
const cache = { ttlMs: 0, cacheScope: 'private' };
const methods = {
  'server/discover': () => ({
    supportedVersions: [V],
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
      ...(withTasks ? { extensions: { [TASKS]: {} } } : {}),
    },
    ...cache,
  }),
  'tools/list': () => ({ tools: withTasks ? C.TOOLS : C.TOOLS.filter(t => !C.TASK_SUPPORT[t.name]), ...cache }),
  'resources/list': () => ({ resources: C.RESOURCES, ...cache }),
  'resources/templates/list': () => ({ resourceTemplates: C.TEMPLATES, ...cache }),
  'resources/read': p => {
    const r = C.readResource(p.uri);
    if (!r) throw new RpcError(-32602, 'Resource not found', { uri: p.uri });
    return { ...r, ...cache };
  },
  'prompts/list': () => ({ prompts: C.PROMPTS, ...cache }),
  'prompts/get': (p, c) => {
    if (p.name === 'test_input_required_result_prompt') {
      needCaps(c, 'elicitation');
      const r = accepted(c.resp, 'user_context');
      return r
        ? { messages: [{ role: 'user', content: { type: 'text', text: `Context: ${r.content?.context}` } }] }
        : IR({
            user_context: form('What context should the prompt use?', {
              type: 'object',
              properties: { context: { type: 'string' } },
              required: ['context'],
            }),
          });
    }
    const r = C.getPrompt(p.name, p.arguments);
    if (!r) throw new RpcError(-32602, 'Unknown prompt');
    return r;
  },
  'completion/complete': () => C.COMPLETION,
  'tools/call': async (p, c) => {
    const f = tools[p.name];
    if (!f || !C.TOOLS.some(t => t.name === p.name) || (!withTasks && C.TASK_SUPPORT[p.name]))
      throw new RpcError(-32602, `Unknown tool: ${p.name}`);
    const a = p.arguments ?? {},
      sup = C.TASK_SUPPORT[p.name],
      ext = withTasks && c.caps.extensions?.[TASKS];
    if (sup === 'required' && !ext) throw need({ extensions: { [TASKS]: {} } });
    if (p.name === 'test_tool_with_task' && !accepted(c.resp, 'user_name')) {
      needCaps(c, 'elicitation');
      return IR({ user_name: askName() }, { t: 'twt' });
    }
    if (sup && ext && !(p.name === 'slow_compute' && !(a.seconds > 0))) return startTask(p.name, a, c);
    return f(a, c);
  },
  ...(withTasks
    ? {
        'tasks/get': p => view(getTask(p)),
        'tasks/cancel': p => {
          const t = getTask(p);
          t.ac.abort();
          set(t, { status: 'cancelled' });
          return {};
        },
        'tasks/update': p => {
          const t = getTask(p);
          for (const [k, v] of Object.entries(p.inputResponses ?? {})) if (t.pending.delete(k)) t.answers[k] = v;
          if (t.status === 'input_required' && !t.pending.size) {
            set(t, { status: 'working' });
            t.done?.(t.answers);
          }
          return {};
        },
      }
    : {}),
};
const NAMED = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};
function decodeParam(v) {
  const m = /^=\?base64\?(.*)\?=$/.exec(v);
  if (!m) return v;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(m[1]) || m[1].length % 4)
    throw new RpcError(-32020, 'Header mismatch: invalid base64', undefined, 400);
  return Buffer.from(m[1], 'base64').toString('utf8');
}
function ladder(req, msg) {
  const p = msg.params ?? {},
    m = p._meta ?? {},
    h = n => {
      const v = req.headers[n];
      return v === undefined ? undefined : String(v).trim();
    },
    bad = (c, t, d) => {
      throw new RpcError(c, t, d, 400);
    };
  if (msg.method === 'initialize' && !m[`${M}protocolVersion`])
    bad(-32022, 'Unsupported protocol version', {
      supported: [V],
      requested: String(p.protocolVersion ?? h('mcp-protocol-version') ?? ''),
    });
  if (typeof m[`${M}protocolVersion`] !== 'string' || !isObj(m[`${M}clientCapabilities`]))
    bad(-32602, 'Invalid params: missing required _meta fields');
  if (h('mcp-protocol-version') !== m[`${M}protocolVersion`]) bad(-32020, 'Header mismatch: MCP-Protocol-Version');
  if (m[`${M}protocolVersion`] !== V) bad(-32022, 'Unsupported protocol version', { supported: [V], requested: m[`${M}protocolVersion`] });
  if (h('mcp-method') !== msg.method) bad(-32020, 'Header mismatch: Mcp-Method');
  if (!methods[msg.method] && msg.method !== 'subscriptions/listen') throw new RpcError(-32601, 'Method not found', undefined, 404);
  const f = NAMED[msg.method];
  if (f && decodeParam(h('mcp-name') ?? '') !== p[f]) bad(-32020, 'Header mismatch: Mcp-Name');
  if (msg.method.startsWith('tasks/') && !m[`${M}clientCapabilities`].extensions?.[TASKS]) throw need({ extensions: { [TASKS]: {} } });
  if (msg.method === 'tools/call')
    for (const [k, d] of Object.entries(C.TOOLS.find(t => t.name === p.name)?.inputSchema.properties ?? {}))
      if (d['x-mcp-header']) {
        const hv = h(`mcp-param-${d['x-mcp-header'].toLowerCase()}`),
          av = p.arguments?.[k];
        if (av === undefined || av === null ? hv !== undefined : hv === undefined || decodeParam(hv) !== String(av))
          bad(-32020, `Header mismatch: Mcp-Param-${d['x-mcp-header']}`);
      }
}
http
  .createServer(async (req, res) => {
    const json = (code, o) => {
      res.writeHead(code, { 'content-type': 'application/json' });
      res.end(o === undefined ? undefined : JSON.stringify(o));
    };
    if (!C.hostOk(req)) return json(403, { jsonrpc: '2.0', error: { code: -32600, message: 'Forbidden host' } });
    if (req.method !== 'POST') {
      res.writeHead(405, { allow: 'POST' });
      return res.end();
    }
    let msg;
    try {
      msg = JSON.parse(await C.body(req));
    } catch {
      return json(400, { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } });
    }
    if (msg.id === undefined) return json(202);
    let sse = false;
    const open = () => {
        if (!sse) {
          sse = true;
          res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
        }
      },
      send = o => {
        open();
        res.write(`event: message\ndata: ${JSON.stringify(o)}\n\n`);
      };
    const finish = (o, code = 200) => {
      if (sse) {
        send(o);
        res.end();
      } else json(code, o);
    };
    try {
      ladder(req, msg);
      const p = msg.params,
        m = p._meta,
        caps = m[`${M}clientCapabilities`];
      if (msg.method === 'subscriptions/listen') {
        const n = p.notifications ?? {};
        if (n.taskIds && !caps.extensions?.[TASKS]) throw need({ extensions: { [TASKS]: {} } });
        const s = { id: msg.id, filter: n, send };
        subs.add(s);
        res.on('close', () => subs.delete(s));
        return send({
          jsonrpc: '2.0',
          method: 'notifications/subscriptions/acknowledged',
          params: { notifications: n, _meta: { [`${M}subscriptionId`]: msg.id } },
        });
      }
      if ('inputResponses' in p && !isObj(p.inputResponses)) throw new RpcError(-32602, 'inputResponses must be an object');
      const lvl = LEVELS.indexOf(m[`${M}logLevel`]);
      const c = {
        caps,
        resp: p.inputResponses ?? {},
        state: p.requestState,
        log: (level, data) => {
          if (lvl >= 0 && LEVELS.indexOf(level) >= lvl)
            send({ jsonrpc: '2.0', method: 'notifications/message', params: { level, logger: 'fixture', data } });
        },
        progress: (progress, total) => {
          if (m.progressToken !== undefined)
            send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: m.progressToken, progress, total } });
        },
      };
      if (msg.method === 'tools/call' && p.name === 'test_streaming_elicitation') open();
      const r = await methods[msg.method](p, c);
      finish({ jsonrpc: '2.0', id: msg.id, result: { resultType: 'complete', ...r, _meta: { ...META, ...r._meta } } });
    } catch (e) {
      if (!(e instanceof RpcError)) console.error(e);
      finish(
        {
          jsonrpc: '2.0',
          id: msg.id,
          error: { code: e.code ?? -32603, message: e.message, ...(e.data !== undefined ? { data: e.data } : {}) },
        },
        e.http ?? 500,
      );
    }
  })
  .listen(PORT, '127.0.0.1', () => console.log(`modern-fixture (2026-07-28${withTasks ? ' + tasks' : ''}) http://127.0.0.1:${PORT}/mcp`));
