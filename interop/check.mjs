// check.mjs - compares the verdicts of a driver with expect.json.
//
//   node check.mjs VERDICTS.jsonl --client NAME --server NAME [--expect FILE]
//
// expect.json: {CLIENT: {"every server": {FLOW: E}, SERVER: {FLOW: E}}}. An expectation of the server replaces the one for
// every server. E is as match.mjs says, or {"notApplicable": "why the server cannot show this flow"}, or "<every client>":
// then it is what stands for this flow and server under "every client".
// Every expected flow must have exactly one verdict and every verdict an expectation; a verdict must say ok and match.
// An expectation that demands nothing beyond ok is refused. Prints one line a flow; exit 1 on any mismatch, 2 when the
// files or the options are no good.
import fs from 'node:fs';
import path from 'node:path';
import { differences } from './match.mjs';
import { readOptions, usage } from './drivers/options.mjs';

const COMMON = 'every server';
const SHARED = 'every client';
const REFERENCE = `<${SHARED}>`;

/** The expectations of one client at one server, by flow. */
export function expectationsFor(expect, client, server) {
  if (client === SHARED || !expect[client]) throw new Error(`no expectations for client ${client}`);
  if (server === COMMON || !expect[client][server]) throw new Error(`no expectations for ${client} at ${server}`);
  const of = name => ({ ...expect[name]?.[COMMON], ...expect[name]?.[server] });
  const flows = of(client);
  const shared = of(SHARED);
  for (const [flow, e] of Object.entries(flows)) {
    if (e === REFERENCE) flows[flow] = shared[flow];
    if (!flows[flow]) throw new Error(`${flow}: nothing stands under "${SHARED}" for ${server}`);
    requireSubstance(flow, flows[flow]);
  }
  return flows;
}

function requireSubstance(flow, e) {
  const keys = Object.keys(e);
  if (keys.includes('notApplicable')) {
    if (keys.length > 1 || typeof e.notApplicable !== 'string' || !e.notApplicable)
      throw new Error(`${flow}: notApplicable needs a reason and nothing else`);
  } else if (!keys.some(k => k !== 'ok' && demands(e[k]))) {
    throw new Error(`${flow}: the expectation demands nothing`);
  }
}

/** Whether an expectation can fail on something that merely exists. */
function demands(e) {
  if (e === null || typeof e !== 'object') return e !== '<any>';
  return Array.isArray(e) || Object.values(e).some(demands);
}

/** What is wrong with one verdict, as text lines. */
function judge(expected, verdict) {
  if (expected.notApplicable) {
    return verdict.notApplicable ? [] : ['the flow ran, but is expected to be not applicable: profile and expectation disagree'];
  }
  if (verdict.notApplicable) return [`not applicable: ${verdict.notApplicable}`];
  if (verdict.ok !== true) return [`the flow broke off: ${JSON.stringify(verdict.error ?? null)}`];
  const lines = [];
  for (const { at, expected: want, got } of differences(expected, verdict)) {
    lines.push(`${at}`, `    expected  ${want}`, `    got       ${got === undefined ? 'nothing' : JSON.stringify(got)}`);
  }
  return lines;
}

/** Compares all verdicts with all expectations: one {flow, problems, note?} each, in the order of the expectations. */
export function check(expectations, verdicts, { client, server }) {
  const rows = Object.entries(expectations).map(([flow, expected]) => {
    const own = verdicts.filter(v => v.flow === flow);
    if (own.length !== 1)
      return { flow, problems: [own.length ? `${own.length} verdicts for one flow` : 'no verdict: the flow did not run'] };
    const stranger = own[0].client !== client || own[0].server !== server;
    if (stranger) return { flow, problems: [`the verdict is of ${own[0].client} at ${own[0].server}`] };
    return { flow, problems: judge(expected, own[0]), note: expected.notApplicable };
  });
  const extra = verdicts.filter(v => !Object.hasOwn(expectations, v.flow));
  return [...rows, ...extra.map(v => ({ flow: String(v.flow), problems: ['no expectation for this flow'] }))];
}

/** The verdicts that a driver has printed. */
export function readVerdicts(file) {
  const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((text, i) => {
    try {
      return JSON.parse(text);
    } catch {
      throw new Error(`${file}:${i + 1}: not JSON: ${text.slice(0, 80)}`);
    }
  });
}

function main() {
  const options = readOptions({
    options: {
      client: { type: 'string' },
      server: { type: 'string' },
      expect: { type: 'string', default: path.join(import.meta.dirname, 'expect.json') },
    },
    positionals: ['verdicts'],
    help: 'usage: check.mjs VERDICTS.jsonl --client NAME --server NAME [--expect FILE]',
  });
  let rows;
  try {
    const expect = JSON.parse(fs.readFileSync(options.expect, 'utf8'));
    rows = check(expectationsFor(expect, options.client, options.server), readVerdicts(options.verdicts), options);
  } catch (e) {
    usage(e.message);
  }
  for (const { flow, problems, note } of rows) {
    const mark = problems.length ? 'FAIL' : note ? 'n/a ' : 'ok  ';
    console.log(`${mark} ${options.server} ${flow}${note && !problems.length ? `  (${note})` : ''}`);
    for (const p of problems) console.log(`       ${p}`);
  }
  const failed = rows.filter(r => r.problems.length).length;
  console.log(`${options.client} at ${options.server}: ${rows.length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

if (process.argv[1] === import.meta.filename) main();
