// exttasks-client.mjs - the OFFICIAL client of the tasks extension (npm @modelcontextprotocol/ext-tasks) in its 2025-11-25
// era, on @modelcontextprotocol/client 2.x. It hides the task behind one call, polls to the end and never calls tasks/result
// while a question is open: questions have to come by themselves. The command line and the verdicts are those of driver.mjs.
import { drive } from './driver.mjs';
import { attempt, call, EXTTASKS, flows as shared, openLegacy, start } from './exttasks-session.mjs';

const flows = {
  async init({ s }) {
    const { tools } = await s.client.listTools();
    return { protocol: s.client.getNegotiatedProtocolVersion(), capabilities: s.session.capabilities, tools: tools.map(t => t.name) };
  },
  ...shared,
  sync: ({ s, tool }) => call(s, tool('sync'), 'forbid'),
  'required-sync': ({ s, tool }) => call(s, tool('required'), 'forbid'),
  hosted: ({ s, tool }) => call(s, tool('sync')),
  'hosted-slow': ({ s, tool }) => call(s, tool('sync-slow')),
  'plain-elicit': ({ s, tool }) => call(s, tool('plain-elicit', 'elicit'), 'forbid'),
  'plain-sample': ({ s, tool }) => call(s, tool('plain-sample', 'sample'), 'forbid'),
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

await drive({ client: EXTTASKS, file: 'exttasks-client', flows, open: openLegacy });
