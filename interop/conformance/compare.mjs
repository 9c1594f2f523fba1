// compare.mjs - compares a summary of suite.mjs with the baseline.
//
//   node compare.mjs RUN SUMMARY.json [--baseline FILE]
//
// baseline.json: {RUN: {revision, scenarios: how many there are, failing: {SCENARIO: reason}, informational: {SCENARIO:
// reason}}}. Exit 1 when a scenario fails that is not listed, when a listed one passes (the lists must shrink with the
// bridge's progress) or did not run, when a scenario checked nothing, and when there are fewer or more scenarios than the
// baseline says. An informational scenario looked at the answer and found that its checks do not apply; it has neither
// failed nor passed. Exit 2 when a file is no good. Warnings of the suite are shown and change nothing.
import fs from 'node:fs';
import path from 'node:path';
import { readOptions, usage } from '../drivers/options.mjs';

/** Why a scenario counts as failed, or undefined. One that checked nothing has not passed. */
export function failureOf({ pass, failed, warned }) {
  if (failed.length) return failed.map(f => `${f.id}: ${f.message}`).join('; ');
  return pass + warned.length === 0 ? 'no check ran (crash, time-out, or everything skipped)' : undefined;
}

/** Compares: {problems, expected, warnings} as text lines, and how many passed. */
export function compare(baseline, { revision, results }) {
  const problems = [];
  const expected = [];
  if (revision !== baseline.revision) problems.push(`the summary is of revision ${revision}, not ${baseline.revision}`);
  const distinct = new Set(results.map(r => r.scenario)).size;
  if (distinct !== baseline.scenarios) problems.push(`${distinct} scenarios ran, not ${baseline.scenarios}`);
  const informational = baseline.informational ?? {};
  const listed = { ...baseline.failing, ...informational };
  for (const r of results) {
    const failure = failureOf(r);
    const reason = listed[r.scenario];
    if (reason && informational[r.scenario] === reason && failure && (r.failed.length || !r.info)) {
      problems.push(`listed as informational, but failed: ${r.scenario}: ${failure}`);
      continue;
    }
    if (failure && !reason) problems.push(`new failure: ${r.scenario}: ${failure}`);
    if (failure && reason) expected.push(`${r.scenario}: ${reason}`);
    if (!failure && reason) problems.push(`passes now, take it off the baseline: ${r.scenario}`);
  }
  for (const scenario of Object.keys(listed)) {
    if (!results.some(r => r.scenario === scenario)) problems.push(`in the baseline, but did not run: ${scenario}`);
  }
  const warnings = results.flatMap(r => r.warned.map(w => `${r.scenario}: ${w.id}: ${w.message}`));
  return { problems, expected, warnings, passed: results.filter(r => !failureOf(r)).length };
}

function main() {
  const options = readOptions({
    options: { baseline: { type: 'string', default: path.join(import.meta.dirname, 'baseline.json') } },
    positionals: ['run', 'summary'],
    help: 'usage: compare.mjs RUN SUMMARY.json [--baseline FILE]',
  });
  let outcome;
  try {
    const baseline = JSON.parse(fs.readFileSync(options.baseline, 'utf8'))[options.run];
    if (!baseline) throw new Error(`the baseline has no run ${options.run}`);
    outcome = compare(baseline, JSON.parse(fs.readFileSync(options.summary, 'utf8')));
  } catch (e) {
    usage(e.message);
  }
  for (const line of outcome.warnings) console.log(`warning  ${line}`);
  for (const line of outcome.expected) console.log(`expected ${line}`);
  for (const line of outcome.problems) console.log(`PROBLEM  ${line}`);
  console.log(
    `${options.run}: ${outcome.passed} scenarios without failure, ${outcome.expected.length} expected, ${outcome.problems.length} problems`,
  );
  process.exit(outcome.problems.length ? 1 : 0);
}

if (process.argv[1] === import.meta.filename) main();
