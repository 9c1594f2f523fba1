import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { check, expectationsFor } from './check.mjs';

const names = { client: 'sdk 1', server: 'demo' };
const expectations = { sync: { result: { ok: { n: 5 } } }, structured: { notApplicable: 'no such tool' } };
const good = [
  { ...names, flow: 'sync', ok: true, result: { ok: { n: 5 } } },
  { ...names, flow: 'structured', ok: false, notApplicable: 'the profile has no tool' },
];
const problems = verdicts => check(expectations, verdicts, names).flatMap(r => r.problems.map(p => `${r.flow}: ${p}`));

test('verdicts as expected have no problems', () => assert.deepEqual(problems(good), []));

const bad = {
  'a value differs': [{ ...good[0], result: { ok: { n: 6 } } }, good[1]],
  'ok alone proves nothing': [{ ...names, flow: 'sync', ok: true }, good[1]],
  'the flow broke off, evidence or not': [{ ...good[0], ok: false, error: { message: 'timed out' } }, good[1]],
  'an expected flow is missing': [good[1]],
  'no verdict at all': [],
  'a flow has two verdicts': [...good, good[0]],
  'a flow without expectation': [...good, { ...names, flow: 'extra', ok: true }],
  'a flow is not applicable that should run': [{ ...names, flow: 'sync', ok: false, notApplicable: 'no tool' }, good[1]],
  'a flow runs that should be not applicable': [good[0], { ...names, flow: 'structured', ok: true }],
  'a verdict of another server': [{ ...good[0], server: 'other' }, good[1]],
  'a verdict of another client': [{ ...good[0], client: 'sdk 2' }, good[1]],
};
for (const [name, verdicts] of Object.entries(bad)) test(`fails: ${name}`, () => assert.notEqual(problems(verdicts).length, 0));

test("a server's expectation replaces the common one, and adds to the rest", () => {
  const expect = { c: { 'every server': { a: { x: 1 }, b: { x: 1 } }, s: { b: { notApplicable: 'why' } } } };
  assert.deepEqual(expectationsFor(expect, 'c', 's'), { a: { x: 1 }, b: { notApplicable: 'why' } });
});

test('a reference is what stands for every client, at this server', () => {
  const shared = { 'every server': { a: { x: 1 }, b: { x: 1 } }, s: { b: { x: 2 } } };
  const expect = { 'every client': shared, c: { 'every server': { a: '<every client>' }, s: { b: '<every client>' } } };
  assert.deepEqual(expectationsFor(expect, 'c', 's'), { a: { x: 1 }, b: { x: 2 } });
  assert.throws(() => expectationsFor({ c: { s: { a: '<every client>' } } }, 'c', 's'), /a: nothing stands under/);
  assert.throws(() => expectationsFor(expect, 'every client', 's'), /no expectations for client/);
});

test('an expectation that demands nothing is refused', () => {
  for (const empty of [{}, { ok: true }, { result: '<any>' }, { result: {} }, { notApplicable: '' }, { notApplicable: 'why', x: 1 }]) {
    assert.throws(() => expectationsFor({ c: { s: { flow: empty } } }, 'c', 's'), /demands nothing|needs a reason/);
  }
});

test('an unknown client or server is refused', () => {
  assert.throws(() => expectationsFor({}, 'c', 's'), /no expectations for client/);
  assert.throws(() => expectationsFor({ c: { 'every server': {} } }, 'c', 's'), /no expectations for c at s/);
});

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'check-'));
after(() => fs.rmSync(dir, { recursive: true }));

function cli(verdictLines, extra = []) {
  const files = { expect: path.join(dir, 'expect.json'), verdicts: path.join(dir, 'verdicts.jsonl') };
  fs.writeFileSync(files.expect, JSON.stringify({ [names.client]: { [names.server]: expectations } }));
  fs.writeFileSync(files.verdicts, verdictLines.map(l => `${l}\n`).join(''));
  const args = [
    path.join(import.meta.dirname, 'check.mjs'),
    files.verdicts,
    '--client',
    names.client,
    '--server',
    names.server,
    '--expect',
    files.expect,
  ];
  return spawnSync(process.execPath, [...args, ...extra], { encoding: 'utf8' });
}

test('the command exits 0, with a line for each flow', () => {
  const { status, stdout } = cli(good.map(v => JSON.stringify(v)));
  assert.equal(status, 0);
  assert.equal(stdout, 'ok   demo sync\nn/a  demo structured  (no such tool)\nsdk 1 at demo: 2 passed, 0 failed\n');
});

test('the command exits 1 and shows the difference', () => {
  const { status, stdout } = cli(bad['a value differs'].map(v => JSON.stringify(v)));
  assert.equal(status, 1);
  assert.match(stdout, /FAIL demo sync\n +result\.ok\.n\n +expected +5\n +got +6\n/);
});

test('the command exits 2 for verdicts that are not JSON, and for a file that is not there', () => {
  assert.equal(cli(['{"flow"']).status, 2);
  assert.equal(
    cli(
      good.map(v => JSON.stringify(v)),
      ['--expect', path.join(dir, 'none.json')],
    ).status,
    2,
  );
});
