// ts-tasks.mjs - a 2025-11-25 server with tasks on the REAL TypeScript SDK 1.x, a tool for every flow.
//
//   node ts-tasks.mjs [PORT]      serves http://127.0.0.1:PORT/mcp (default 18413)
//
// Everything on the wire is the SDK's own doing (McpServer, InMemoryTaskStore, InMemoryTaskMessageQueue,
// StreamableHTTPServerTransport): this file only says what the tools do.
import { randomUUID } from 'node:crypto';
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CreateMessageResultSchema, ElicitResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const PORT = Number(process.argv[2] ?? 18413);
const POLL_MS = 200;
const sleep = ms => new Promise(r => setTimeout(r, ms));
const text = s => ({ content: [{ type: 'text', text: s }] });
// One store for all sessions: the SDK tells them apart.
const taskStore = new InMemoryTaskStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();
const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

const form = key => ({
  mode: 'form',
  message: `${key}?`,
  requestedSchema: { type: 'object', properties: { [key]: { type: 'string' } }, required: [key] },
});
const told = r => `${r.action} ${JSON.stringify(r.content ?? null)}`;

/** Asks one question in a task, on the stream of tasks/result: its answer as text. */
async function ask({ extra, id, store }, key) {
  const request = { method: 'elicitation/create', params: form(key) };
  const answer = await extra.sendRequest(request, ElicitResultSchema, { relatedTask: { taskId: id } });
  await store.updateTaskStatus(id, 'working', 'answered');
  return told(answer);
}

// What runs in a task: ({args, extra, id, store, server}) => [status, result].
const works = {
  work: {
    inputSchema: { ms: z.number() },
    async run({ args: { ms } }) {
      if (ms) await sleep(ms);
      return ['completed', text(`worked ${ms} ms`)];
    },
  },
  structured: {
    outputSchema: { n: z.number() },
    run: async () => ['completed', { ...text('{"n":7}'), structuredContent: { n: 7 } }],
  },
  is_error: { run: async () => ['failed', { ...text('tool says no'), isError: true }] },
  is_error_completed: { run: async () => ['completed', { ...text('tool says no'), isError: true }] },
  fail: {
    async run() {
      await sleep(300);
      throw new Error('the database is on fire');
    },
  },
  ask: { run: async c => ['completed', text(await ask(c, 'name'))] },
  // the question is pushed at once on the session's GET stream, instead of waiting for tasks/result
  ask_push: {
    async run({ id, store, server }) {
      await store.updateTaskStatus(id, 'input_required');
      const _meta = { 'io.modelcontextprotocol/related-task': { taskId: id } };
      const answer = await server.server.elicitInput({ ...form('name'), _meta });
      await store.updateTaskStatus(id, 'working');
      return ['completed', text(told(answer))];
    },
  },
  ask_twice: {
    async run(c) {
      const first = await ask(c, 'first');
      return ['completed', text(`first: ${first}; second: ${await ask(c, 'second')}`)];
    },
  },
  ask_both: {
    async run(c) {
      const [left, right] = await Promise.all([ask(c, 'left'), ask(c, 'right')]);
      return ['completed', text(`left: ${left}; right: ${right}`)];
    },
  },
  sample: {
    async run({ extra, id, store }) {
      const params = { messages: [{ role: 'user', content: { type: 'text', text: 'A haiku, please.' } }], maxTokens: 50 };
      const request = { method: 'sampling/createMessage', params };
      const answer = await extra.sendRequest(request, CreateMessageResultSchema, { relatedTask: { taskId: id } });
      await store.updateTaskStatus(id, 'working');
      return ['completed', text(`model said: ${answer.content.text}`)];
    },
  },
};

function registerWork(server, name, { inputSchema = {}, outputSchema, run }) {
  const config = { description: name, inputSchema, outputSchema, execution: { taskSupport: 'required' } };
  server.experimental.tasks.registerToolTask(name, config, {
    async createTask(args, extra) {
      const store = extra.taskStore;
      const task = await store.createTask({ ttl: extra.taskRequestedTtl, pollInterval: POLL_MS });
      const id = task.taskId;
      const ended = run({ args, extra, id, store, server })
        .then(([status, result]) => store.storeTaskResult(id, status, result))
        .catch(e => store.updateTaskStatus(id, 'failed', e.message).catch(() => {})); // cancelled meanwhile
      if (args.ms !== 0) return { task };
      await ended; // finished before the client hears of it
      return { task: await store.getTask(id) };
    },
    getTask: (_args, extra) => extra.taskStore.getTask(extra.taskId),
    getTaskResult: (_args, extra) => extra.taskStore.getTaskResult(extra.taskId),
  });
}

function build() {
  const info = { name: 'ts-tasks', version: '1.0.0' };
  const server = new McpServer(info, { capabilities: { logging: {}, tools: {}, tasks }, taskStore, taskMessageQueue });
  const numbers = { a: z.number(), b: z.number() };
  server.registerTool('add', { description: 'add', inputSchema: numbers }, ({ a, b }) => text(String(a + b)));
  server.registerTool('count', { description: 'count', inputSchema: { steps: z.number() } }, async ({ steps }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let progress = 1; progress <= steps && progressToken !== undefined; progress++)
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: steps } });
    return text(`counted to ${steps}`);
  });
  server.registerTool('ask_plainly', { description: 'ask_plainly', inputSchema: {} }, async (_args, extra) =>
    text(told(await extra.sendRequest({ method: 'elicitation/create', params: form('name') }, ElicitResultSchema))),
  );
  for (const [name, work] of Object.entries(works)) registerWork(server, name, work);
  return server;
}

const app = createMcpExpressApp();
const sessions = new Map();
app.all('/mcp', async (req, res) => {
  const id = req.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (!transport && !id && req.method === 'POST') {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: opened => sessions.set(opened, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await build().connect(transport);
  }
  if (transport) return transport.handleRequest(req, res, req.body);
  res.status(id ? 404 : 400).json({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null });
});
app.listen(PORT, '127.0.0.1', () => console.log(`ts-tasks http://127.0.0.1:${PORT}/mcp`));
