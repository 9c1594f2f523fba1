// legacy-client.mjs - the REAL TypeScript SDK 1.x client (npm @modelcontextprotocol/sdk) speaking 2025-11-25 tasks.
//
//   node legacy-client.mjs URL FLOW[,FLOW...]|all --profile NAME [--profiles FILE] [--record-dir DIR]
//
// URL is the MCP endpoint; NAME says which tool stands for each flow on the server (behind it). --record-dir keeps the
// traffic of each flow in a file. Prints one JSON verdict a flow: {client, server, flow, ok, notApplicable?, error?,
// ...evidence}. `ok` says that the story could be told to its end; check.mjs says whether it is the right one.
// Exit 0 when every flow ran or has no tool, 1 when one broke off, 2 for a mistake in the command.
import path from 'node:path';
import { flows } from './legacy-flows.mjs';
import { connect, SDK } from './legacy-session.mjs';
import { NotApplicable, readFlows, readOptions, readProfile, sleep, toolOf } from './options.mjs';
import { startRecorder } from './recorder.mjs';

const FLOW_LIMIT_MS = 45_000;

const options = readOptions({
  options: {
    profile: { type: 'string' },
    profiles: { type: 'string', default: path.join(import.meta.dirname, '../profiles.json') },
    'record-dir': { type: 'string' },
  },
  positionals: ['url', 'flows'],
  help: `usage: legacy-client.mjs URL FLOW[,FLOW...]|all --profile NAME [--profiles FILE] [--record-dir DIR]\nflows: ${Object.keys(flows).join(' ')}`,
});
const profile = readProfile(options.profiles, options.profile);
const asked = readFlows(options.flows, Object.keys(flows));

async function record(flow) {
  if (!options['record-dir']) return null;
  const out = path.join(options['record-dir'], `ts-sdk-client-${flow}.jsonl`);
  return startRecorder({ target: options.url, out, note: `${SDK}, flow ${flow}, profile ${options.profile}` });
}

async function run(flow) {
  const verdict = { client: SDK, server: options.profile, flow, ok: false };
  const rec = await record(flow);
  const url = rec?.url ?? options.url;
  let session;
  try {
    session = await connect(url, profile);
    const story = flows[flow]({ s: session, tool: (...keys) => toolOf(profile, ...keys), connect: () => connect(url, profile), url });
    const limit = sleep(FLOW_LIMIT_MS).then(() => Promise.reject(new Error(`flow not finished after ${FLOW_LIMIT_MS} ms`)));
    Object.assign(verdict, await Promise.race([story, limit]), { ok: true });
  } catch (e) {
    if (e instanceof NotApplicable) verdict.notApplicable = e.message;
    else verdict.error = { code: e.code, message: e.message };
  }
  await session?.client.close().catch(() => {}); // a peer that is already gone cannot be closed politely
  rec?.log({ ev: 'note', verdict });
  await rec?.close();
  return verdict;
}

let broken = 0;
for (const flow of asked) {
  const verdict = await run(flow);
  console.log(JSON.stringify(verdict));
  if (!verdict.ok && !verdict.notApplicable) broken++;
}
process.exit(broken ? 1 : 0);
