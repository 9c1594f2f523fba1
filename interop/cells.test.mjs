import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { cells, rows, split, table } from './cells.mjs';
import { expectationsFor } from './check.mjs';

const expect = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'expect-cells.json'), 'utf8'));
const flowsOf = era => rows.map(([, flow]) => flow[era] ?? flow);

test('the table says yes to what came out as expected, and no to the rest', () => {
  const passed = new Map(cells.map(c => [c.cell, new Set(flowsOf(c.era))]));
  passed.get('sdk@demo-legacy').delete('cancel');
  const lines = table(passed).split('\n');
  assert.equal(lines.length, rows.length + 3);
  assert.equal(lines.filter(l => l.includes('| no |')).length, 1);
  assert.equal(
    lines.find(l => l.includes('| no |')),
    '| a task is cancelled | yes | yes | no | yes |',
  );
});

test('all that is between the marks is the table', () => {
  assert.deepEqual(split('a\n<!-- cells -->\nb\n<!-- /cells -->\nc\n'), ['a\n<!-- cells -->\n', 'b\n', '<!-- /cells -->\nc\n']);
  assert.throws(() => split('a\n'), /no <!-- cells -->/);
  assert.throws(() => split('<!-- /cells -->\n<!-- cells -->\n'), /no <!-- cells -->/);
});

test('every cell expects every flow, and a client expects the same at both servers', () => {
  for (const { cell, client, era } of cells) {
    const expectations = expectationsFor(expect, client, cell.split('@')[1]);
    assert.deepEqual(Object.keys(expectations).sort(), flowsOf(era).sort(), cell);
    assert.ok(!Object.values(expectations).some(e => e.notApplicable), cell);
    assert.deepEqual(expect[client][cell.split('@')[1]], {});
  }
});

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'cells-'));
after(() => fs.rmSync(dir, { recursive: true }));

test('the command fails when nothing came out as expected', () => {
  for (const { cell } of cells) fs.writeFileSync(path.join(dir, `${cell}.jsonl`), '');
  const args = [path.join(import.meta.dirname, 'cells.mjs'), 'check', dir];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stdout, /^FAIL sdk@demo-modern sync$/m);
  assert.doesNotMatch(stdout, /\| yes \|/);
  assert.equal(spawnSync(process.execPath, [...args.slice(0, 2), path.join(dir, 'nowhere')]).status, 2);
});
