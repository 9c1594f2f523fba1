// question-flows.mjs - what legacy-client.mjs can do where the server asks: its user, its model, or for its roots.
// As legacy-flows.mjs: each flow returns its evidence, unjudged.
import * as T from '@modelcontextprotocol/sdk/types.js';
import { sleep } from './options.mjs';
import { attempt, cancel, create, get, isAsking, raw, result, stream, TASK, until } from './legacy-session.mjs';

/** A host that fails: what its error says must not be lost. */
const failing = text => () => {
  throw Object.assign(new Error(text), { code: -1 });
};

/** Creates a task and waits for its result at once, through every question. */
async function asked(s, tool) {
  const { task } = await create(s, tool);
  const answer = await result(s, task.taskId);
  return { result: answer, final: await get(s, task.taskId), ...questions(s) };
}

/** Calls a tool plainly. */
async function called(s, tool) {
  const answer = await attempt(() => s.client.callTool(tool));
  return { result: answer, ...questions(s) };
}

const questions = ({ seen }) => ({ elicitations: seen.elicitations, samplings: seen.samplings, roots: seen.roots });

/** Waits until a condition holds. */
async function once(condition, maxMs = 15_000) {
  for (const end = Date.now() + maxMs; !condition(); await sleep(20)) {
    if (Date.now() > end) throw new Error(`did not happen in ${maxMs} ms`);
  }
}

const UNDECLARED = {};

export const flows = {
  // ---- questions of a task

  // as the specification tells it: poll to input_required, and only then ask for the result
  async elicit({ s, tool }) {
    const { task } = await create(s, tool('elicit'));
    const { statuses } = await until(s, task.taskId, isAsking);
    const before = s.seen.elicitations.length;
    const answer = await result(s, task.taskId);
    return { taskId: task.taskId, statuses, before, result: answer, final: await get(s, task.taskId), ...questions(s) };
  },
  // the SDK's own driver
  async 'elicit-stream'({ s, tool }) {
    return { events: await stream(s, tool('elicit')), ...questions(s) };
  },
  // a client that never calls tasks/result: the question has to come by itself, once it has polled in vain
  async 'elicit-polling'({ s, tool }) {
    const { task } = await create(s, tool('elicit'));
    await until(s, task.taskId, isAsking);
    const before = s.seen.elicitations.length;
    const { task: last } = await until(s, task.taskId);
    return { taskId: task.taskId, before, last, result: await result(s, task.taskId), ...questions(s) };
  },
  async 'elicit-decline'({ s, tool }) {
    s.answers.elicit = () => ({ action: 'decline' });
    return asked(s, tool('elicit'));
  },
  async 'elicit-error'({ s, tool }) {
    s.answers.elicit = failing('the user is away');
    return asked(s, tool('elicit'));
  },
  // a client that cannot be asked: nobody is, and the task ends without an answer
  async 'elicit-undeclared'({ tool, connect }) {
    const s = await connect(UNDECLARED);
    const answer = await attempt(() => raw(s, 'tools/call', { ...tool('elicit'), task: TASK }));
    return answer.ok ? { result: await result(s, answer.ok.task.taskId), final: await get(s, answer.ok.task.taskId) } : { result: answer };
  },
  // ... also when it only polls
  async 'elicit-undeclared-polling'({ tool, connect }) {
    const s = await connect(UNDECLARED);
    const answer = await attempt(() => raw(s, 'tools/call', { ...tool('elicit'), task: TASK }));
    if (!answer.ok) return { result: answer };
    await until(s, answer.ok.task.taskId);
    return { result: await result(s, answer.ok.task.taskId) };
  },
  elicit2: ({ s, tool }) => asked(s, tool('elicit2')),
  both: ({ s, tool }) => asked(s, tool('both')),
  // the server asks before it makes the task, if it makes one at all
  mrtr: ({ s, tool }) => asked(s, tool('mrtr')),
  sample: ({ s, tool }) => asked(s, tool('sample')),
  // a call that asks the model before it is answered: the task is the bridge's
  'sample-hosted': ({ s, tool }) => asked(s, tool('sample-hosted')),
  async 'sample-error'({ s, tool }) {
    s.answers.sample = failing('no model here');
    return asked(s, tool('sample'));
  },
  roots: ({ s, tool }) => asked(s, tool('roots')),
  mixed: ({ s, tool }) => asked(s, tool('mixed')),

  // two wait for the result: both get it, and one is asked
  async 'elicit-waiters'({ s, tool }) {
    const { task } = await create(s, tool('elicit'));
    const results = await Promise.all([result(s, task.taskId), result(s, task.taskId)]);
    return { results, ...questions(s) };
  },
  // the user takes longer than the SDK waits for tasks/result; asking again must work
  async 'elicit-slow'({ s, tool }) {
    const fill = s.answers.elicit;
    s.answers.elicit = async params => {
      await sleep(1500);
      return fill(params);
    };
    const { task } = await create(s, tool('elicit'));
    await until(s, task.taskId, isAsking);
    const first = await result(s, task.taskId, { timeout: 700 });
    return { first, second: await result(s, task.taskId), ...questions(s) };
  },
  // cancelling the task takes the question back
  async 'elicit-cancel'({ s, tool }) {
    let withdrawn = false;
    s.answers.elicit = (params, { signal }) =>
      new Promise((_, fail) =>
        signal.addEventListener('abort', () => {
          withdrawn = true;
          fail(new Error('withdrawn'));
        }),
      );
    const { task } = await create(s, tool('elicit'));
    const pending = result(s, task.taskId);
    await once(() => s.seen.elicitations.length > 0);
    await sleep(300);
    const cancelled = await cancel(s, task.taskId);
    const pendingResult = await Promise.race([pending, sleep(8000).then(() => 'still blocked after 8 s')]);
    await once(() => withdrawn, 2000).catch(() => {}); // the evidence says so
    return { cancel: cancelled, pendingResult, withdrawn };
  },
  // another session is not asked
  async 'elicit-leak'({ s, tool, connect }) {
    const other = await connect();
    await sleep(300); // its GET stream is open by then
    const own = await asked(s, tool('elicit'));
    await sleep(300);
    return { own, other: questions(other) };
  },

  // ---- questions of a plain call

  'plain-elicit': ({ s, tool }) => called(s, tool('plain-elicit', 'elicit')),
  async 'plain-elicit-decline'({ s, tool }) {
    s.answers.elicit = () => ({ action: 'decline' });
    return called(s, tool('plain-elicit', 'elicit'));
  },
  async 'plain-elicit-error'({ s, tool }) {
    s.answers.elicit = failing('the user is away');
    return called(s, tool('plain-elicit', 'elicit'));
  },
  async 'plain-elicit-undeclared'({ tool, connect }) {
    const s = await connect(UNDECLARED);
    return called(s, tool('plain-elicit', 'elicit'));
  },
  'plain-elicit2': ({ s, tool }) => called(s, tool('elicit2')),
  'plain-both': ({ s, tool }) => called(s, tool('plain-both', 'both')),
  'plain-sample': ({ s, tool }) => called(s, tool('plain-sample', 'sample')),
  async 'plain-sample-error'({ s, tool }) {
    s.answers.sample = failing('no model here');
    return called(s, tool('plain-sample', 'sample'));
  },
  'plain-roots': ({ s, tool }) => called(s, tool('roots')),
  'plain-mixed': ({ s, tool }) => called(s, tool('mixed')),
  // a tool that runs as a task only, called plainly: its questions are the call's
  'plain-required-elicit': ({ s, tool }) => called(s, tool('elicit-required')),
  // a question of a prompt
  async 'prompt-elicit'({ s, tool }) {
    const answer = await attempt(() => s.client.request({ method: 'prompts/get', params: tool('prompt-elicit') }, T.GetPromptResultSchema));
    return { result: answer, ...questions(s) };
  },
};
