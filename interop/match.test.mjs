import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from './match.mjs';

const handle = 'abcdefghijklmnopqrstuv';
const cases = [
  { name: 'a subset of members', expected: { a: 1 }, good: { a: 1, b: 2 }, bad: { a: 2 } },
  { name: 'a member inside', expected: { a: { b: 1 } }, good: { a: { b: 1 } }, bad: { a: {} } },
  { name: 'an object, not an array', expected: {}, good: { x: 1 }, bad: [] },
  { name: 'an exact array length', expected: [1, 2], good: [1, 2], bad: [1, 2, 3] },
  { name: 'an empty array', expected: [], good: [], bad: [1] },
  { name: 'a number is not its text', expected: 5, good: 5, bad: '5' },
  { name: 'null is not absent', expected: { a: '<absent>' }, good: {}, bad: { a: null } },
  { name: '<any> must exist', expected: { a: '<any>' }, good: { a: null }, bad: {} },
  { name: '<text> is not empty', expected: { a: '<text>' }, good: { a: 'x' }, bad: { a: '' } },
  { name: '<int> is no fraction', expected: { a: '<int>' }, good: { a: 0 }, bad: { a: 0.5 } },
  { name: '<int> is no null', expected: { a: '<int>' }, good: { a: -1 }, bad: { a: null } },
  { name: '<time> needs a zone', expected: '<time>', good: '2026-12-01T03:22:40.615154+00:00', bad: '2026-12-01T03:22:40' },
  { name: '<handle> is long enough', expected: '<handle>', good: handle, bad: handle.slice(1) },
  { name: '<handle> is plain ASCII', expected: '<handle>', good: `${handle}~`, bad: `${handle}:` },
  { name: 'a name is one value', expected: { a: '<$t>', b: '<$t>' }, good: { a: 'x', b: 'x' }, bad: { a: 'x', b: 'y' } },
  { name: '<matches>', expected: { '<matches>': 'fire$' }, good: 'on fire', bad: 'fire out' },
  { name: '<one of>', expected: { '<one of>': ['a', 'b'] }, good: 'b', bad: 'c' },
  { name: '<one of> with absent', expected: { a: { '<one of>': ['<absent>', { b: 1 }] } }, good: {}, bad: { a: { b: 2 } } },
  {
    name: '<each> holds for every element',
    expected: { '<each>': { s: 'o' } },
    good: [{ s: 'o' }, { s: 'o' }],
    bad: [{ s: 'o' }, { s: 'f' }],
  },
  { name: '<each> needs an element', expected: { '<each>': '<any>' }, good: [1], bad: [] },
  { name: '<any order> takes each once', expected: { '<any order>': ['a', 'b'] }, good: ['b', 'a'], bad: ['b', 'b'] },
  { name: '<any order> is of that length', expected: { '<any order>': ['a'] }, good: ['a'], bad: ['a', 'b'] },
  {
    name: '<unrelated> may be absent',
    expected: { a: '<unrelated>' },
    good: {},
    bad: { a: { 'io.modelcontextprotocol/related-task': {} } },
  },
  {
    name: '<unrelated> may hold other things',
    expected: { a: '<unrelated>' },
    good: { a: { vendor: 1 } },
    bad: { a: { 'io.modelcontextprotocol/serverInfo': {} } },
  },
  { name: '<last> looks at the end', expected: { '<last>': 'z' }, good: ['a', 'z'], bad: ['z', 'a'] },
];

for (const { name, expected, good, bad } of cases) {
  test(`matches: ${name}`, () => assert.deepEqual(differences(expected, good), []));
  test(`differs: ${name}`, () => assert.notEqual(differences(expected, bad).length, 0));
}

test('a difference says where, what was expected and what came', () => {
  const found = differences(
    { result: { ok: { _meta: { 'a/b': 1 }, content: [{ text: 'x' }] } } },
    { result: { ok: { _meta: { 'a/b': 2 }, content: [{}] } } },
  );
  assert.deepEqual(found, [
    { at: 'result.ok._meta["a/b"]', expected: '1', got: 2 },
    { at: 'result.ok.content[0].text', expected: '"x"', got: undefined },
  ]);
});

test('a mistyped wildcard or operator is refused, not taken for a literal', () => {
  assert.throws(() => differences({ a: '<txt>' }, { a: '<txt>' }), /unknown wildcard/);
  assert.throws(() => differences({ a: { '<every>': 1 } }, { a: [1] }), /unknown or mixed operator/);
  assert.throws(() => differences({ '<each>': 1, b: 2 }, [1]), /unknown or mixed operator/);
});
