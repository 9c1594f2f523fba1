// compare.mjs - compares a summary of suite.mjs with the baseline.
//
//   node compare.mjs RUN SUMMARY.json [--baseline FILE]
//
// baseline.json: {RUN: {revision, scenarios: how many there are, failing, informational, skipped, warned: {SCENARIO: reason}}},
// and what measure.sh does with a run. Exit 1 when a scenario fails or warns that is not listed, when a listed one no
// longer does (the lists must shrink with the bridge's progress) or did not run, when a scenario checked nothing, and when
// there are fewer or more scenarios than the baseline says. An informational scenario looked at the answer and found that its
// checks do not apply, a skipped one has no checks yet; neither has failed. The last line says MEETS or BELOW. Exit 2 when a
// file is no good.
import fs from 'node:fs';
import path from 'node:path';
import { readOptions, usage } from '../drivers/options.mjs';

/** Why a scenario counts as failed, or undefined. One that checked nothing has not passed. */
export function failureOf({ pass, failed, warned }) {
  if (failed.length) return failed.map(f => `${f.id}: ${f.message}`).join('; ');
  return pass + warned.length === 0 ? 'no check ran (crash, time-out, or everything skipped)' : undefined;
}

const checkedNothing = r => r.failed.length === 0 && r.pass + r.warned.length === 0;

/** How a scenario without any check that could fail shows that it ran, by the list that allows it. */
const UNCHECKED = {
  informational: r => checkedNothing(r) && r.info > 0,
  skipped: r => checkedNothing(r) && r.info === 0 && r.skip > 0,
};

/** The list that allows a scenario to check nothing, or undefined. */
const uncheckedBy = (r, baseline) => Object.keys(UNCHECKED).find(list => baseline[list]?.[r.scenario]);

/** What is wrong with one scenario, or undefined. */
function problemOf(r, baseline) {
  const { failing = {}, warned = {} } = baseline;
  const name = r.scenario;
  const failure = failureOf(r);
  const list = uncheckedBy(r, baseline);
  if (list) {
    if (UNCHECKED[list](r)) return undefined;
    return failure ? `listed as ${list}, but failed: ${name}: ${failure}` : `passes now, take it off the baseline: ${name}`;
  }
  if (failing[name]) return failure ? undefined : `passes now, take it off the baseline: ${name}`;
  if (failure) return `new failure: ${name}: ${failure}`;
  if (!r.warned.length) return warned[name] && `warns no more, take it off the baseline: ${name}`;
  return warned[name] ? undefined : `new warning: ${name}: ${r.warned.map(w => `${w.id}: ${w.message}`).join('; ')}`;
}

/** Compares: {problems, expected} as text lines, how many scenarios did not fail, and how many should not. */
export function compare(baseline, { revision, results }) {
  const problems = [];
  if (revision !== baseline.revision) problems.push(`the summary is of revision ${revision}, not ${baseline.revision}`);
  const distinct = new Set(results.map(r => r.scenario)).size;
  if (distinct !== baseline.scenarios) problems.push(`${distinct} scenarios ran, not ${baseline.scenarios}`);
  const listed = { ...baseline.failing, ...baseline.informational, ...baseline.skipped, ...baseline.warned };
  const expected = [];
  for (const r of results) {
    const problem = problemOf(r, baseline);
    if (problem) problems.push(problem);
    else if (listed[r.scenario]) expected.push(`${r.scenario}: ${listed[r.scenario]}`);
  }
  for (const scenario of Object.keys(listed)) {
    if (!results.some(r => r.scenario === scenario)) problems.push(`in the baseline, but did not run: ${scenario}`);
  }
  const passed = results.filter(r => !failureOf(r) || Object.values(UNCHECKED).some(ran => ran(r))).length;
  const { scenarios, failing = {} } = baseline;
  return { problems, expected, passed, scenarios, target: scenarios - Object.keys(failing).length };
}

/** How many checks there were, by what became of them. */
function totals(results) {
  const sum = count => results.reduce((n, r) => n + count(r), 0);
  return `pass=${sum(r => r.pass)} fail=${sum(r => r.failed.length)} warn=${sum(r => r.warned.length)} skip=${sum(r => r.skip)}`;
}

function main() {
  const options = readOptions({
    options: { baseline: { type: 'string', default: path.join(import.meta.dirname, 'baseline.json') } },
    positionals: ['run', 'summary'],
    help: 'usage: compare.mjs RUN SUMMARY.json [--baseline FILE]',
  });
  let outcome, checks;
  try {
    const baseline = JSON.parse(fs.readFileSync(options.baseline, 'utf8'))[options.run];
    if (!baseline) throw new Error(`the baseline has no run ${options.run}`);
    const summary = JSON.parse(fs.readFileSync(options.summary, 'utf8'));
    outcome = compare(baseline, summary);
    checks = totals(summary.results);
  } catch (e) {
    usage(e.message);
  }
  for (const line of outcome.expected) console.log(`expected ${line}`);
  for (const line of outcome.problems) console.log(`PROBLEM  ${line}`);
  const verdict = outcome.problems.length ? 'BELOW' : 'MEETS';
  console.log(
    `${verdict} ${options.run}: ${outcome.passed} of ${outcome.scenarios} without failure (target ${outcome.target}); checks ${checks}`,
  );
  process.exit(outcome.problems.length ? 1 : 0);
}

if (process.argv[1] === import.meta.filename) main();
