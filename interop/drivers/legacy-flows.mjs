// legacy-flows.mjs - what legacy-client.mjs can do: each flow runs one story and returns its evidence, unjudged.
// A flow gets {s, tool, connect}: a connected session, the profile's tools by key, and a way to open another session.
import * as T from '@modelcontextprotocol/sdk/types.js';
import { sleep } from './options.mjs';
import { attempt, cancel, create, get, raw, result, stream, TASK, until } from './legacy-session.mjs';

/** Create, poll to the end, fetch the result. */
async function life(s, tool) {
  const created = await create(s, tool);
  const seen = await until(s, created.task.taskId);
  return { created, ...seen, result: await result(s, created.task.taskId) };
}

/** The status notifications about one task, and how many of them only repeat the one before. */
function statusesOf(notifications, taskId) {
  const statuses = notifications.filter(n => n.params?.taskId === taskId).map(n => n.params.status);
  return { statuses, repeats: statuses.filter((status, i) => i > 0 && status === statuses[i - 1]).length };
}

export const flows = {
  async init({ s }) {
    return {
      protocol: s.transport.protocolVersion,
      session: s.transport.sessionId,
      serverInfo: s.client.getServerVersion(),
      capabilities: s.client.getServerCapabilities(),
      tools: s.tools.map(({ name, execution }) => ({ name, taskSupport: execution?.taskSupport })),
    };
  },

  // ---- a task from creation to result

  async complete({ s, tool }) {
    const story = await life(s, tool('complete'));
    return { ...story, again: await result(s, story.created.task.taskId) };
  },
  instant: ({ s, tool }) => life(s, tool('instant')),
  structured: ({ s, tool }) => life(s, tool('structured')),
  iserror: ({ s, tool }) => life(s, tool('iserror')),
  failed: ({ s, tool }) => life(s, tool('failed')),
  // a tool that never makes a task: the client asked for one and must get one
  hosted: ({ s, tool }) => life(s, tool('sync')),
  // ... and must not wait for it when the tool takes its time
  'hosted-slow': ({ s, tool }) => life(s, tool('sync-slow')),
  // the SDK's own driver
  async stream({ s, tool }) {
    return { events: await stream(s, tool('complete')) };
  },
  async 'result-blocks'({ s, tool }) {
    const { task } = await create(s, tool('complete'));
    const before = await get(s, task.taskId);
    const blocked = await result(s, task.taskId);
    return { before, result: blocked, after: await get(s, task.taskId) };
  },
  // the SDK gives up on tasks/result after its request timeout (60 s, here 700 ms); asking again must work
  async 'result-timeout'({ s, tool }) {
    const { task } = await create(s, tool('complete'));
    const first = await result(s, task.taskId, { timeout: 700 });
    return { first, second: await result(s, task.taskId) };
  },
  async 'ttl-none'({ s, tool }) {
    return { created: await raw(s, 'tools/call', { ...tool('instant'), task: {} }) };
  },

  // ---- calls without a task

  async sync({ s, tool }) {
    return { result: await attempt(() => s.client.callTool(tool('sync'))) };
  },
  // a tool of the server behind that runs as a task only, called plainly
  async 'required-sync'({ s, tool }) {
    return { result: await attempt(() => s.client.callTool(tool('required'))) };
  },
  async progress({ s, tool }) {
    const progress = [];
    const options = { onprogress: p => progress.push(p) };
    return { result: await attempt(() => s.client.callTool(tool('progress'), T.CallToolResultSchema, options)), progress };
  },
  async 'task-on-unknown-tool'({ s }) {
    return { answer: await attempt(() => raw(s, 'tools/call', { name: 'no_such_tool', arguments: {}, task: TASK })) };
  },

  // ---- cancelling

  async cancel({ s, tool }) {
    const { task } = await create(s, tool('slow'));
    await sleep(300);
    const cancelled = await cancel(s, task.taskId);
    return { cancel: cancelled, get: await get(s, task.taskId), result: await result(s, task.taskId), again: await cancel(s, task.taskId) };
  },
  async 'cancel-while-result'({ s, tool }) {
    const { task } = await create(s, tool('slow'));
    const pending = result(s, task.taskId);
    await sleep(500);
    const cancelled = await cancel(s, task.taskId);
    return { cancel: cancelled, pendingResult: await Promise.race([pending, sleep(8000).then(() => 'still blocked after 8 s')]) };
  },
  async 'cancel-finished'({ s, tool }) {
    const { task } = await create(s, tool('instant'));
    await until(s, task.taskId);
    return { cancel: await cancel(s, task.taskId), get: await get(s, task.taskId) };
  },
  // the caller aborts callToolStream: only tasks/cancel cancels, so the task must still be running
  async 'abort-stream'({ s, tool }) {
    const abort = new AbortController();
    setTimeout(() => abort.abort('user gave up'), 1200);
    const events = await stream(s, tool('slow'), { signal: abort.signal });
    await sleep(300);
    const list = await attempt(async () => (await s.tasks.listTasks()).tasks.map(t => t.status));
    return { events, list };
  },

  // ---- ids and lists

  async unknown({ s }) {
    const id = 'no-such-task';
    return { get: await get(s, id), result: await result(s, id), cancel: await cancel(s, id) };
  },
  async list({ s, tool }) {
    const created = [];
    for (let i = 0; i < 12; i++) created.push((await create(s, tool('instant'))).task.taskId);
    const pages = [];
    const listed = [];
    for (let cursor; pages.length < 20;) {
      const page = await s.tasks.listTasks(cursor);
      pages.push({ n: page.tasks.length, nextCursor: page.nextCursor });
      listed.push(...page.tasks);
      cursor = page.nextCursor;
      if (!cursor) break;
    }
    const ids = new Set(listed.map(t => t.taskId));
    const missing = created.filter(id => !ids.has(id)).length;
    return {
      created: created.length,
      pages,
      tasks: listed.slice(0, 1),
      missing,
      badCursor: await attempt(() => s.tasks.listTasks('not-a-cursor')),
    };
  },

  // ---- notifications, and what another session must not see

  async notify({ s, tool }) {
    const { task } = await create(s, tool('complete'));
    await until(s, task.taskId);
    await sleep(500);
    return { taskId: task.taskId, notifications: s.seen.notifications, ...statusesOf(s.seen.notifications, task.taskId) };
  },
  async isolation({ s, tool, connect }) {
    const { task } = await create(s, tool('slow'));
    const other = await connect();
    const evidence = {
      get: await get(other, task.taskId),
      result: await result(other, task.taskId),
      cancel: await cancel(other, task.taskId),
      list: await attempt(async () => (await other.tasks.listTasks()).tasks),
      own: await get(s, task.taskId),
    };
    return evidence;
  },
  async leak({ s, tool, connect }) {
    const other = await connect();
    await sleep(300); // its GET stream is open by then
    const { task } = await create(s, tool('complete'));
    await until(s, task.taskId);
    await sleep(500);
    return {
      status: (await s.tasks.getTask(task.taskId)).status,
      notifications: other.seen.notifications,
      elicitations: other.seen.elicitations,
    };
  },

  // after DELETE the SDK goes on without a session header; a client that keeps the old one is told that it is gone
  async terminate({ s, tool, url }) {
    const { task } = await create(s, tool('slow'));
    const session = s.transport.sessionId;
    await s.transport.terminateSession();
    const withoutSession = await get(s, task.taskId);
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25',
        'Mcp-Session-Id': session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'late', method: 'tasks/get', params: { taskId: task.taskId } }),
    });
    return { withoutSession, withOldSession: { status: answer.status, body: await answer.json().catch(e => e.message) } };
  },
};
