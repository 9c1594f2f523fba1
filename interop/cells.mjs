// cells.mjs - the four cells: a client and a server of each era, and the same task flows in all of them.
//
//   node cells.mjs names              the cells, CLIENT@SERVER, as run.sh calls the two
//   node cells.mjs flows CELL         the flows of a cell, as its driver calls them
//   node cells.mjs check DIR [--write]
//
// check reads the verdicts of each cell in DIR/CELL.jsonl, compares them with expect-cells.json as check.mjs does, and prints
// a table of flows and cells. README.md must have that table between its marks <!-- cells --> and <!-- /cells -->; --write
// puts it there. Exit 1 when a flow did not come out as expected or README.md shows something else, 2 for a mistake in the
// command or the files.
import fs from 'node:fs';
import path from 'node:path';
import { check, expectationsFor, readVerdicts } from './check.mjs';
import { readOptions, usage } from './drivers/options.mjs';

const README = path.join(import.meta.dirname, '../README.md');
const MARKS = ['<!-- cells -->\n', '<!-- /cells -->\n'];
const SDK = '@modelcontextprotocol/sdk 1.32.2';
const EXTTASKS = '@modelcontextprotocol/ext-tasks 0.2.2, @modelcontextprotocol/client 2.4.0, 2026-07-28';

/** The columns of the table. */
export const cells = [
  { cell: 'sdk@demo-modern', client: SDK, era: 'old', title: 'old client,<br>new server' },
  { cell: 'ext-tasks-modern@demo-legacy', client: EXTTASKS, era: 'new', title: 'new client,<br>old server' },
  { cell: 'sdk@demo-legacy', client: SDK, era: 'old', title: 'old client,<br>old server' },
  { cell: 'ext-tasks-modern@demo-modern', client: EXTTASKS, era: 'new', title: 'new client,<br>new server' },
];

/** The rows: what they show, and the flow that shows it; in both eras the same, or one for each. */
export const rows = [
  ['a tool answers at once', 'sync'],
  ['a tool reports its progress', 'progress'],
  ['a tool asks the user in the middle of a call', { old: 'plain-elicit', new: 'undeclared-elicit' }],
  ['a task runs to its end, and its result is fetched', 'complete'],
  ['a task that ends at once', 'instant'],
  ['a task with structured content', 'structured'],
  ['a task whose tool reports an error', 'iserror'],
  ['a task that fails with an error of JSON-RPC', 'failed'],
  ['a task that asks the user', 'elicit'],
  ['… twice, one question after the other', 'elicit2'],
  ['… two questions at once', 'both'],
  ['… before there is a task', 'mrtr'],
  ["… the client's model", 'sample'],
  ['a task is cancelled', 'cancel'],
  ['a task that is over is cancelled', 'cancel-finished'],
  ['a task that nobody knows', 'unknown'],
];

const flowOf = (flow, era) => (typeof flow === 'string' ? flow : flow[era]);
const serverOf = cell => cell.split('@')[1];

/** The flows of a cell. */
const flowsOf = ({ era }) => rows.map(([, flow]) => flowOf(flow, era));

/** The table, in Markdown: `passed` has a set of flows for each cell. */
export function table(passed) {
  const line = columns => `| ${columns.join(' | ')} |`;
  const mark = (flow, { cell, era }) => (passed.get(cell).has(flowOf(flow, era)) ? 'yes' : 'no');
  const head = [line(['', ...cells.map(c => c.title)]), line(['---', ...cells.map(() => ':---:')])];
  return [...head, ...rows.map(([what, flow]) => line([what, ...cells.map(c => mark(flow, c))]))].join('\n') + '\n';
}

/** The text between the marks, and what is around it. */
export function split(readme) {
  const [from, to] = [readme.indexOf(MARKS[0]), readme.indexOf(MARKS[1])];
  if (from < 0 || to < from) throw new Error(`no ${MARKS.map(m => m.trim()).join(' and ')} in ${README}`);
  const begin = from + MARKS[0].length;
  return [readme.slice(0, begin), readme.slice(begin, to), readme.slice(to)];
}

/** The problems of one cell, as text, and which flows have none. */
function judge({ cell, client, era }, expect, verdicts) {
  const server = serverOf(cell);
  const expectations = expectationsFor(expect, client, server);
  const flows = flowsOf({ era });
  const missing = flows.filter(f => !expectations[f] || expectations[f].notApplicable);
  if (missing.length) throw new Error(`${client} at ${server}: no expectations for ${missing.join(', ')}`);
  const judged = check(expectations, verdicts, { client, server });
  const problems = judged.filter(r => r.problems.length).map(r => [`FAIL ${cell} ${r.flow}`, ...r.problems].join('\n       '));
  return { problems, passed: new Set(judged.filter(r => !r.problems.length).map(r => r.flow)) };
}

function main() {
  const help = 'usage: cells.mjs names | flows CELL | check DIR [--write]';
  const [command] = process.argv.slice(2);
  if (command === 'names') return console.log(cells.map(c => c.cell).join('\n'));
  const options = readOptions({ options: { write: { type: 'boolean' } }, positionals: ['command', 'subject'], help });
  if (command === 'flows') {
    const found = cells.find(c => c.cell === options.subject);
    return found ? console.log(flowsOf(found).join(',')) : usage(`no cell ${options.subject}`);
  }
  if (command !== 'check') usage(help);
  const passed = new Map();
  const problems = [];
  let head, shown, tail;
  try {
    const expect = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, 'expect-cells.json'), 'utf8'));
    for (const c of cells) {
      const outcome = judge(c, expect, readVerdicts(path.join(options.subject, `${c.cell}.jsonl`)));
      passed.set(c.cell, outcome.passed);
      problems.push(...outcome.problems);
    }
    [head, shown, tail] = split(fs.readFileSync(README, 'utf8'));
  } catch (e) {
    usage(e.message);
  }
  const now = table(passed);
  console.log([...problems, now].join('\n'));
  if (shown !== now && options.write) fs.writeFileSync(README, head + now + tail);
  else if (shown !== now) problems.push('README.md shows another table: node interop/cells.mjs check interop/out/cells --write');
  if (problems.length) console.log(problems.at(-1));
  process.exit(problems.length ? 1 : 0);
}

if (process.argv[1] === import.meta.filename) main();
