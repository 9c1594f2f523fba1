// exttasks-modern-client.mjs - the OFFICIAL client of the tasks extension (npm @modelcontextprotocol/ext-tasks) in its
// 2026-07-28 era, on @modelcontextprotocol/client 2.x. It polls with tasks/get, answers questions with tasks/update, and on
// a call that asks before it makes a task by repeating the call. The flows that declare no tasks are the SDK's client's own.
// The command line and the verdicts are those of driver.mjs.
import { drive } from './driver.mjs';
import { attempt, call, EXTTASKS, flows as shared, openModern, openUndeclared, settled, start } from './exttasks-session.mjs';
import { sleep } from './options.mjs';

const LISTEN_MS = 4000;
const SETTLING_MS = 500; // for what may still be on its way

/** Calls a tool as a host that does not know tasks. */
async function undeclared({ url, profile, closing }, tool) {
  const s = closing(await openUndeclared(url, profile));
  const progress = [];
  const result = await attempt(() => s.client.callTool(tool, { onprogress: p => progress.push(p) }));
  return { result, progress, inputs: s.seen.inputs };
}

const flows = {
  async init({ s }) {
    const { tools } = await s.client.listTools();
    return {
      protocol: s.client.getNegotiatedProtocolVersion(),
      serverInfo: s.client.getServerVersion(),
      capabilities: s.client.getServerCapabilities(),
      session: s.session.capabilities,
      tools,
    };
  },
  ...shared,
  sync: ({ s, tool }) => call(s, tool('sync')),
  'iserror-completed': ({ s, tool }) => call(s, tool('iserror-completed')),
  push: ({ s, tool }) => call(s, tool('push')),
  // a tool that asks in the middle of a call and makes no task: answered by repeating the call
  'call-elicit': ({ s, tool }) => call(s, tool('call-elicit')),
  'call-sample': ({ s, tool }) => call(s, tool('call-sample')),
  progress: ({ tool, ...host }) => undeclared(host, tool('progress')),
  'undeclared-sync': ({ tool, ...host }) => undeclared(host, tool('sync')),
  'undeclared-elicit': ({ tool, ...host }) => undeclared(host, tool('plain-elicit', 'call-elicit')),
  'undeclared-required': ({ tool, ...host }) => undeclared(host, tool('required')),
  async unknown({ s }) {
    const task = s.session.task('no-such-task');
    const update = () => task.updateJson({ 'no-such-key': { action: 'cancel' } });
    return { get: await attempt(() => task.snapshot()), update: await attempt(update), cancel: await attempt(() => task.cancel()) };
  },
  // what only 2025-11-25 has
  removed: async ({ s }) => ({
    list: await attempt(() => s.raw('tasks/list', {})),
    result: await attempt(() => s.raw('tasks/result', { taskId: 'no-such-task' })),
  }),
  async subscribe({ s, tool }) {
    const running = await start(s, tool('complete'));
    const taskIds = [running.handle.taskId];
    const subscription = await attempt(() => s.client.listen({ taskIds }, { timeout: LISTEN_MS }));
    const end = await settled(running);
    await sleep(SETTLING_MS);
    await subscription.ok?.close();
    return {
      taskId: taskIds[0],
      honored: subscription.ok?.honoredFilter,
      error: subscription.error,
      settled: end,
      notifications: s.seen.notifications,
    };
  },
};

await drive({ client: `${EXTTASKS}, 2026-07-28`, file: 'exttasks-modern-client', flows, open: openModern });
