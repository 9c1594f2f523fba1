import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { flows } from './legacy-flows.mjs';

const nowhere = 'http://127.0.0.1:9/mcp';
const root = path.join(import.meta.dirname, '..');
const run = (driver, ...args) => spawnSync(process.execPath, [path.join(import.meta.dirname, driver), ...args], { encoding: 'utf8' });

for (const driver of ['legacy-client.mjs', 'modern-walk.mjs']) {
  const mistakes = {
    'an unknown profile': [['all', '--profile', 'nobody'], /unknown profile "nobody".*demo-modern/],
    'no profile': [['all'], /unknown profile/],
    'a comment is no profile': [['all', '--profile', '_comment'], /unknown profile "_comment"/],
    'an unknown flow': [['sync,nonsense', '--profile', 'demo-modern', '--record-dir', root], /unknown flow "nonsense"/],
    'an unreadable profiles file': [['all', '--profile', 'x', '--profiles', path.join(root, 'none.json')], /cannot read profiles/],
    'an unknown option': [['all', '--profil', 'demo-modern'], /usage:/],
  };
  for (const [name, [args, message]] of Object.entries(mistakes)) {
    test(`${driver} exits 2: ${name}`, () => {
      const { status, stdout, stderr } = run(driver, nowhere, ...args);
      assert.equal(status, 2);
      assert.match(stderr, message);
      assert.equal(stdout, '');
    });
  }
}

test('a server that is not there breaks the flow off: exit 1, and a verdict that is not ok', () => {
  const { status, stdout } = run('legacy-client.mjs', nowhere, 'sync', '--profile', 'demo-modern');
  assert.equal(status, 1);
  const verdict = JSON.parse(stdout);
  assert.equal(verdict.ok, false);
  assert.ok(verdict.error.message);
});

test('every server of the expectations has a profile, and every flow of the driver an expectation', () => {
  const read = file => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
  const profiles = read('profiles.json');
  for (const servers of Object.values(read('expect.json'))) {
    const { 'every server': common, ...each } = servers;
    for (const [server, own] of Object.entries(each)) {
      assert.ok(profiles[server], `no profile ${server}`);
      assert.deepEqual(Object.keys({ ...common, ...own }).sort(), Object.keys(flows).sort(), server);
    }
  }
});
