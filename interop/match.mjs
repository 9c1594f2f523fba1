// match.mjs - compares a value with an expectation that says only what matters. Used by check.mjs on verdicts.
//
// An expectation is JSON:
//   {"a": E, ...}      an object with at least these members, each as expected; further members are ignored
//   [E, ...]           an array of exactly this length
//   "<absent>"         the member does not exist (null is not absent)
//   "<any>"            anything, but it exists
//   "<text>" "<int>"   a non-empty string; an integer
//   "<time>"           an RFC 3339 date and time with a zone
//   "<handle>"         a task id as the bridge mints them: 22 to 512 of [A-Za-z0-9._~-]
//   "<unrelated>"      no `_meta`, or one that names neither a task nor the server behind
//   "<$name>"          a non-empty string, the same wherever the name stands in one verdict
//   {"<matches>": "re"}     a string that the regular expression matches
//   {"<one of>": [E, ...]}  one of these
//   {"<any order>": [E, ...]} an array of exactly this length, whose elements match in some order
//   {"<each>": E}           an array of at least one element, each as expected
//   {"<last>": E}           an array whose last element is as expected
//   anything else      exactly this value
// An unknown "<...>" is an error of the expectation, never a literal.

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const isText = v => typeof v === 'string' && v !== '';
const isObject = v => v !== null && typeof v === 'object' && !Array.isArray(v);

const WILDCARDS = {
  '<any>': () => true,
  '<text>': isText,
  '<int>': Number.isInteger,
  '<time>': v => typeof v === 'string' && RFC3339.test(v),
  '<handle>': v => typeof v === 'string' && /^[A-Za-z0-9._~-]{22,512}$/.test(v),
};

const RESERVED = ['io.modelcontextprotocol/related-task', 'io.modelcontextprotocol/serverInfo'];
const isUnrelated = v => v === undefined || (isObject(v) && !RESERVED.some(key => Object.hasOwn(v, key)));

const OPERATORS = {
  '<matches>': (re, value, at, ctx) => {
    if (typeof value !== 'string' || !new RegExp(re).test(value)) ctx.differ(at, `text matching /${re}/`, value);
  },
  '<one of>': (alternatives, value, at, ctx) => {
    if (!alternatives.some(e => matches(e, value, ctx.names))) ctx.differ(at, `one of ${JSON.stringify(alternatives)}`, value);
  },
  '<any order>': (expected, value, at, ctx) => {
    if (!Array.isArray(value) || value.length !== expected.length) return ctx.differ(at, `an array of ${expected.length}`, value);
    const left = [...expected];
    value.forEach((v, i) => {
      const found = left.findIndex(e => matches(e, v, ctx.names));
      if (found < 0) ctx.differ(`${at}[${i}]`, `one of ${JSON.stringify(left)}`, v);
      else left.splice(found, 1);
    });
  },
  '<each>': (expected, value, at, ctx) => {
    if (!Array.isArray(value) || value.length === 0) return ctx.differ(at, 'an array with elements', value);
    value.forEach((v, i) => compare(expected, v, `${at}[${i}]`, ctx));
  },
  '<last>': (expected, value, at, ctx) => {
    if (!Array.isArray(value) || value.length === 0) return ctx.differ(at, 'an array with a last element', value);
    compare(expected, value.at(-1), `${at}[${value.length - 1}]`, ctx);
  },
};

const reserved = key => /^<.*>$/.test(key);
const member = (at, key) => (/^\w+$/.test(key) ? `${at}${at && '.'}${key}` : `${at}[${JSON.stringify(key)}]`);

function compareText(expected, value, at, ctx) {
  if (expected === '<absent>') return value === undefined || ctx.differ(at, expected, value);
  if (expected === '<unrelated>') return isUnrelated(value) || ctx.differ(at, expected, value);
  if (WILDCARDS[expected]) return (value !== undefined && WILDCARDS[expected](value)) || ctx.differ(at, expected, value);
  if (!expected.startsWith('<$')) throw new Error(`${at}: unknown wildcard ${expected}`);
  if (!isText(value)) return ctx.differ(at, expected, value);
  if (!ctx.names.has(expected)) ctx.names.set(expected, value);
  const bound = ctx.names.get(expected);
  return value === bound || ctx.differ(at, `${JSON.stringify(bound)} (${expected})`, value);
}

function compareObject(expected, value, at, ctx) {
  const operator = Object.keys(expected).find(reserved);
  if (operator) {
    if (!OPERATORS[operator] || Object.keys(expected).length > 1) throw new Error(`${at}: unknown or mixed operator ${operator}`);
    return OPERATORS[operator](expected[operator], value, at, ctx);
  }
  if (!isObject(value)) return ctx.differ(at, 'an object', value);
  for (const [key, e] of Object.entries(expected)) compare(e, Object.hasOwn(value, key) ? value[key] : undefined, member(at, key), ctx);
}

function compare(expected, value, at, ctx) {
  if (typeof expected === 'string' && reserved(expected)) return compareText(expected, value, at, ctx);
  if (isObject(expected)) return compareObject(expected, value, at, ctx);
  if (!Array.isArray(expected)) return expected === value || ctx.differ(at, JSON.stringify(expected), value);
  if (!Array.isArray(value) || value.length !== expected.length) return ctx.differ(at, `an array of ${expected.length}`, value);
  expected.forEach((e, i) => compare(e, value[i], `${at}[${i}]`, ctx));
}

function matches(expected, value, names) {
  const scratch = new Map(names);
  if (differences(expected, value, scratch).length) return false;
  for (const [name, bound] of scratch) names.set(name, bound);
  return true;
}

/** What is wrong with `value`: one {at, expected, got} a difference, none when it is as expected. */
export function differences(expected, value, names = new Map()) {
  const found = [];
  compare(expected, value, '', { names, differ: (at, want, got) => void found.push({ at: at || '(the verdict)', expected: want, got }) });
  return found;
}
