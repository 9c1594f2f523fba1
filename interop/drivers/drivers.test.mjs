import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { expectationsFor } from '../check.mjs';
import { flows as taskFlows } from './legacy-flows.mjs';
import { flows as questionFlows } from './question-flows.mjs';

const nowhere = 'http://127.0.0.1:9/mcp';
const root = path.join(import.meta.dirname, '..');
const read = file => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
const node = driver => [process.execPath, path.join(import.meta.dirname, driver)];

/** Every driver as run.sh starts it. */
const drivers = {
  'legacy-client.mjs': node('legacy-client.mjs'),
  'exttasks-client.mjs': node('exttasks-client.mjs'),
  'exttasks-modern-client.mjs': node('exttasks-modern-client.mjs'),
  'example-client.mjs': node('example-client.mjs'),
  'modern-walk.mjs': node('modern-walk.mjs'),
  'mcpgo-client': [path.join(root, 'bin/mcpgo-client')],
  'python/client.py': [path.join(root, '.venv/python/bin/python'), path.join(root, 'python/client.py')],
  'fastmcp/client.py': [path.join(root, '.venv/fastmcp/bin/python'), path.join(root, 'fastmcp/client.py')],
};

/** Runs a driver with the profiles of this folder, unless others are named. */
function run(driver, url, flows, ...args) {
  const [program, ...own] = drivers[driver];
  const profiles = args.some(a => a.startsWith('--profiles')) ? [] : [`--profiles=${path.join(root, 'profiles.json')}`];
  return spawnSync(program, [...own, url, flows, ...args, ...profiles], { encoding: 'utf8', timeout: 60_000 });
}

for (const driver of Object.keys(drivers)) {
  const mistakes = {
    'an unknown profile': [['all', '--profile=nobody'], /unknown profile ["']nobody["']/],
    'no profile': [['all'], /profile/],
    'a comment is no profile': [['all', '--profile=_comment'], /unknown profile ["']_comment["']/],
    'an unknown flow': [['sync,nonsense', '--profile=demo-modern'], /unknown flow ["'](nonsense|sync)["']/],
    'an unreadable profiles file': [['all', '--profile=x', `--profiles=${path.join(root, 'none.json')}`], /cannot read profiles/],
    'an unknown option': [['all', '--profil-e=demo-modern'], /usage|Usage/],
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

/** The drivers that connect by themselves, with the file of their expectations. */
const expectations = {
  'legacy-client.mjs': 'expect.json',
  'exttasks-client.mjs': 'expect.json',
  'mcpgo-client': 'expect.json',
  'python/client.py': 'expect.json',
  'exttasks-modern-client.mjs': 'expect-modern.json',
  'fastmcp/client.py': 'expect-modern.json',
};

for (const [driver, file] of Object.entries(expectations)) {
  test(`${driver}: a server that is not there breaks the flow off: exit 1, and a verdict that is not ok`, () => {
    const { status, stdout } = run(driver, nowhere, 'sync', '--profile=demo-modern');
    assert.equal(status, 1);
    const verdict = JSON.parse(stdout);
    assert.equal(verdict.flow, 'sync');
    assert.equal(verdict.server, 'demo-modern');
    assert.equal(verdict.ok, false);
    assert.ok(verdict.error.message);
  });

  test(`${driver}: the name in its verdicts is one that has expectations`, () => {
    const { client } = JSON.parse(run(driver, nowhere, 'sync', '--profile=demo-modern').stdout);
    assert.ok(read(file)[client], client);
  });
}

test('every server of the expectations has a profile, and every expectation holds for one', () => {
  const profiles = read('profiles.json');
  const { 'every client': shared, ...clients } = read('expect.json');
  for (const client of Object.keys(clients)) {
    for (const server of Object.keys(shared).filter(s => s !== 'every server')) {
      assert.ok(profiles[server], `no profile ${server}`);
      assert.ok(Object.keys(expectationsFor(read('expect.json'), client, server)).length, `${client} at ${server}`);
    }
  }
});

test('the same holds for clients of 2026-07-28', () => {
  const profiles = read('profiles.json');
  const legacyServers = ['demo-legacy', 'everything', 'ts-tasks', 'ts-interactive', 'mcp-go', 'fastmcp-3', 'python-tasks'];
  for (const client of Object.keys(read('expect-modern.json'))) {
    for (const server of legacyServers) {
      assert.ok(profiles[server], `no profile ${server}`);
      assert.ok(Object.keys(expectationsFor(read('expect-modern.json'), client, server)).length, `${client} at ${server}`);
    }
  }
});

test('every flow of the SDK client has an expectation at every server', () => {
  const flows = Object.keys({ ...taskFlows, ...questionFlows }).sort();
  for (const server of ['demo-modern', 'modern-fixture', 'fastmcp-tasks']) {
    assert.deepEqual(Object.keys(expectationsFor(read('expect.json'), '@modelcontextprotocol/sdk 1.32.2', server)).sort(), flows, server);
  }
});
