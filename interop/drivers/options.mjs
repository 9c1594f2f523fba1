// options.mjs - command line and profile reading shared by the drivers. Every mistake exits 2 with a sentence.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

export function usage(message) {
  console.error(message);
  process.exit(2);
}

/** Parses argv: `options` as node:util parseArgs takes them, `positionals` the names of the required arguments. */
export function readOptions({ options, positionals, help }) {
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (e) {
    usage(`${e.message}\n${help}`);
  }
  if (parsed.positionals.length !== positionals.length) usage(help);
  const named = Object.fromEntries(positionals.map((name, i) => [name, parsed.positionals[i]]));
  return { ...parsed.values, ...named };
}

/** An npm package with the version that is installed. */
export function versioned(name) {
  const file = path.join(import.meta.dirname, '../node_modules', name, 'package.json');
  return `${name} ${JSON.parse(fs.readFileSync(file, 'utf8')).version}`;
}

/** The tools of one server, by flow: the entry `name` of the profiles file. */
export function readProfile(file, name) {
  let profiles;
  try {
    profiles = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (e) {
    usage(`cannot read profiles from ${file}: ${e.message}`);
  }
  const known = Object.keys(profiles).filter(k => !k.startsWith('_'));
  if (!known.includes(name)) usage(`unknown profile ${JSON.stringify(name ?? '')}; ${file} has: ${known.join(', ')}`);
  return profiles[name];
}

/** The flow names asked for: `all` or a comma-separated list; an unknown name exits 2. */
export function readFlows(asked, known) {
  const flows = asked === 'all' ? known : asked.split(',');
  for (const f of flows) if (!known.includes(f)) usage(`unknown flow ${JSON.stringify(f)}; known: ${known.join(', ')}`);
  return flows;
}

/** A flow that the profile names no tool for: not a failure of the flow, but something a test must have expected. */
export class NotApplicable extends Error {}

/** The first of `keys` that the profile has a tool for. */
export function toolOf(profile, ...keys) {
  for (const k of keys) if (profile[k]) return profile[k];
  throw new NotApplicable(`the profile has no tool for ${keys.join(' or ')}`);
}

export const sleep = ms => new Promise(r => setTimeout(r, ms));

/** Does `work` on every item, `width` of them at a time. */
export async function inTurns(items, width, work) {
  const left = [...items];
  const worker = async () => {
    while (left.length) await work(left.shift());
  };
  await Promise.all(Array.from({ length: width }, worker));
}
