import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { compare } from './compare.mjs';
import { summarize } from './suite.mjs';

const check = (status, id = 'check-1') => ({ id, status, errorMessage: `${id} says ${status}` });
const passing = scenario => summarize(scenario, 'required', [check('SUCCESS'), check('INFO')]);
const failing = scenario => summarize(scenario, 'required', [check('SUCCESS'), check('FAILURE', 'check-2')]);
const baseline = { revision: '2025-11-25', scenarios: 3, failing: { ask: 'needs a question' } };
const summary = (...results) => ({ revision: '2025-11-25', results });
const problems = s => compare(baseline, s).problems;

test('passing scenarios and a listed failure are as expected', () => {
  const outcome = compare(baseline, summary(passing('ping'), passing('list'), failing('ask')));
  assert.deepEqual(outcome, { problems: [], expected: ['ask: needs a question'], passed: 2, scenarios: 3, target: 2 });
});

test('a new failure is a problem', () => {
  assert.deepEqual(problems(summary(passing('ping'), failing('list'), failing('ask'))), [
    'new failure: list: check-2: check-2 says FAILURE',
  ]);
});

test('a listed scenario that passes is a problem', () => {
  assert.deepEqual(problems(summary(passing('ping'), passing('list'), passing('ask'))), ['passes now, take it off the baseline: ask']);
});

test('a scenario without checks counts as failed', () => {
  for (const checks of [undefined, [], [check('INFO')], [check('SKIPPED')]]) {
    const found = problems(summary(passing('ping'), summarize('list', 'required', checks), failing('ask')));
    assert.equal(found.length, 1);
    assert.match(found[0], /^new failure: list: no check ran/);
  }
});

test('an informational scenario has run and did not fail', () => {
  const lenient = { ...baseline, informational: { list: 'does not apply here' } };
  const found = checks => compare(lenient, summary(passing('ping'), summarize('list', 'required', checks), failing('ask'))).problems;
  assert.deepEqual(found([check('INFO')]), []);
  assert.equal(compare(lenient, summary(passing('ping'), summarize('list', 'required', [check('INFO')]), failing('ask'))).passed, 2);
  assert.match(found(undefined)[0], /^listed as informational, but failed: list/);
  assert.match(found([check('INFO'), check('FAILURE')])[0], /^listed as informational, but failed: list/);
  assert.match(found([check('SUCCESS')])[0], /^passes now/);
});

test('a skipped scenario was skipped by the suite, and nothing else', () => {
  const lenient = { ...baseline, skipped: { list: 'the suite has no checks yet' } };
  const outcome = checks => compare(lenient, summary(passing('ping'), summarize('list', 'required', checks), failing('ask')));
  assert.deepEqual(outcome([check('SKIPPED')]).problems, []);
  assert.equal(outcome([check('SKIPPED')]).passed, 2);
  assert.match(outcome(undefined).problems[0], /^listed as skipped, but failed: list/);
  assert.match(outcome([check('INFO')]).problems[0], /^listed as skipped, but failed: list/);
  assert.match(outcome([check('SKIPPED'), check('FAILURE')]).problems[0], /^listed as skipped, but failed: list/);
  assert.match(outcome([check('SUCCESS'), check('SKIPPED')]).problems[0], /^passes now/);
});

test('a scenario that ran is needed for each listed failure', () => {
  assert.deepEqual(problems(summary(passing('ping'), passing('list'), passing('more'))), ['in the baseline, but did not run: ask']);
});

test('fewer scenarios than the baseline says are a problem, also when one ran twice', () => {
  assert.deepEqual(problems(summary(passing('ping'), failing('ask'))), ['2 scenarios ran, not 3']);
  assert.deepEqual(problems(summary(passing('ping'), passing('ping'), failing('ask'))), ['2 scenarios ran, not 3']);
  assert.notEqual(problems(summary()).length, 0);
});

test('a summary of another revision is a problem', () => {
  assert.match(problems({ ...summary(passing('ping'), passing('list'), failing('ask')), revision: '2026-07-28' })[0], /not 2025-11-25/);
});

test('a warning is a problem unless it is listed, and a listed one that is gone is one too', () => {
  const warned = summarize('list', 'required', [check('SUCCESS'), check('WARNING', 'check-3')]);
  const found = (lists, result) => compare({ ...baseline, ...lists }, summary(passing('ping'), result, failing('ask'))).problems;
  assert.deepEqual(found({}, warned), ['new warning: list: check-3: check-3 says WARNING']);
  assert.deepEqual(found({ warned: { list: 'the server behind is slow' } }, warned), []);
  assert.deepEqual(found({ warned: { list: 'the server behind is slow' } }, passing('list')), [
    'warns no more, take it off the baseline: list',
  ]);
});

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'compare-'));
after(() => fs.rmSync(dir, { recursive: true }));

function cli(run, results) {
  const files = { baseline: path.join(dir, 'baseline.json'), summary: path.join(dir, 'summary.json') };
  fs.writeFileSync(files.baseline, JSON.stringify({ 'legacy/x': baseline }));
  fs.writeFileSync(files.summary, JSON.stringify(summary(...results)));
  const args = [path.join(import.meta.dirname, 'compare.mjs'), run, files.summary, '--baseline', files.baseline];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

test('the command exits 0, 1 or 2 and says whether the target is met', () => {
  const good = cli('legacy/x', [passing('ping'), passing('list'), failing('ask')]);
  assert.equal(good.status, 0);
  assert.match(good.stdout, /^MEETS legacy\/x: 2 of 3 without failure \(target 2\); checks pass=3 fail=1 warn=0 skip=0$/m);
  const bad = cli('legacy/x', [passing('ping'), failing('list'), failing('ask')]);
  assert.equal(bad.status, 1);
  assert.match(bad.stdout, /^BELOW legacy\/x: 1 of 3 without/m);
  assert.equal(cli('legacy/x', [passing('ping'), passing('list'), passing('ask')]).status, 1);
  assert.equal(cli('legacy/y', [passing('ping'), passing('list'), failing('ask')]).status, 2);
});

test('every listed failure of the real baseline has a reason', () => {
  const real = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'baseline.json'), 'utf8'));
  for (const { failing: listed, informational, skipped, warned } of Object.values(real)) {
    for (const reason of Object.values({ ...listed, ...informational, ...skipped, ...warned })) assert.match(reason, /\w+ \w+/);
  }
});
