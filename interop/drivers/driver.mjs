// driver.mjs - the part that the Node drivers share: the command line, one recording and one verdict a flow, time limits.
import path from 'node:path';
import { NotApplicable, inTurns, readFlows, readOptions, readProfile, sleep, toolOf } from './options.mjs';
import { startRecorder } from './recorder.mjs';

const FLOW_LIMIT_MS = 45_000;
const AT_A_TIME = 6; // every flow has sessions of its own, so they can share a server

/** A story, but not for longer than a flow may take. */
function limited(story) {
  let timer;
  const limit = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`flow not finished after ${FLOW_LIMIT_MS} ms`)), FLOW_LIMIT_MS);
  });
  return Promise.race([story, limit]).finally(() => clearTimeout(timer));
}

/**
 * Runs the flows that the command line asks for, and ends the process.
 *
 *   node DRIVER URL FLOW[,FLOW...]|all --profile NAME [--profiles FILE] [--record-dir DIR]
 *
 * URL is the MCP endpoint; NAME says which tool stands for each flow on the server (behind it). --record-dir keeps the
 * traffic of each flow in a file. Prints one JSON verdict a flow: {client, server, flow, ok, notApplicable?, error?,
 * ...evidence}. `ok` says that the story could be told to its end; check.mjs says whether it is the right one.
 * Exit 0 when every flow ran or has no tool, 1 when one broke off, 2 for a mistake in the command.
 *
 * `client` is the name in the verdicts, `file` begins the recordings' names. open(url, profile, ...) connects; what it
 * returns has a close(). A flow gets {s, tool, connect, closing, url, profile}: that connection, the profile's tools by key,
 * open once more, and what sees to it that something it opened itself is closed.
 */
export async function drive({ client, file, flows, open }) {
  const options = readOptions({
    options: {
      profile: { type: 'string' },
      profiles: { type: 'string', default: path.join(import.meta.dirname, '../profiles.json') },
      'record-dir': { type: 'string' },
    },
    positionals: ['url', 'flows'],
    help: `usage: URL FLOW[,FLOW...]|all --profile NAME [--profiles FILE] [--record-dir DIR]\nflows: ${Object.keys(flows).join(' ')}`,
  });
  const profile = readProfile(options.profiles, options.profile);
  const asked = readFlows(options.flows, Object.keys(flows));
  const tool = (...keys) => toolOf(profile, ...keys);

  async function record(flow) {
    const dir = options['record-dir'];
    if (!dir) return null;
    const note = `${client}, flow ${flow}, profile ${options.profile}`;
    return startRecorder({ target: options.url, out: path.join(dir, `${file}-${flow}.jsonl`), note });
  }

  async function run(flow) {
    const verdict = { client, server: options.profile, flow, ok: false };
    const rec = await record(flow);
    const url = rec?.url ?? options.url;
    const opened = [];
    const closing = session => {
      opened.push(session);
      return session;
    };
    const connect = async (...args) => closing(await open(url, profile, ...args));
    const story = async () => flows[flow]({ s: await connect(), tool, connect, closing, url, profile });
    try {
      Object.assign(verdict, await limited(story()), { ok: true });
    } catch (e) {
      if (e instanceof NotApplicable) verdict.notApplicable = e.message;
      else verdict.error = { code: e.code, message: e.message };
    }
    // a peer that is already gone cannot be closed politely, and one that hangs is not waited for
    await Promise.race([Promise.allSettled(opened.map(s => s.close())), sleep(2000)]);
    rec?.log({ ev: 'note', verdict });
    await rec?.close();
    return verdict;
  }

  let broken = 0;
  await inTurns(asked, AT_A_TIME, async flow => {
    const verdict = await run(flow);
    console.log(JSON.stringify(verdict));
    if (!verdict.ok && !verdict.notApplicable) broken++;
  });
  process.exit(broken ? 1 : 0);
}
