// example-client.mjs - the TypeScript SDK 1.x's OWN example client (simpleTaskInteractiveClient), unmodified, as a process
// with a user at its keyboard. It calls confirm_delete and write_haiku through callToolStream. One flow, `demo`; the command
// line and the verdicts are those of driver.mjs; the profile's `example` says that the server has both tools.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { drive } from './driver.mjs';
import { versioned } from './options.mjs';

const examples = path.join(import.meta.dirname, '../node_modules/@modelcontextprotocol/sdk/dist/esm/examples/client');

/** Starts the client; `lines` fills with what it prints, without empty lines. */
async function open(url) {
  const child = spawn(process.execPath, [path.join(examples, 'simpleTaskInteractiveClient.js'), '--url', url]);
  process.on('exit', () => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', chunk => {
      text += chunk;
      // the user reads the prompt, and only then types
      if (chunk.includes('Your response (y/n):')) child.stdin.write('y\n');
    });
  }
  const exit = new Promise(resolve => child.on('close', resolve));
  return { exit, text: () => text, close: async () => child.kill('SIGKILL') };
}

const all = (text, re) => [...text.matchAll(re)].map(m => m[1]);

const flows = {
  async demo({ s, tool }) {
    tool('example');
    const exit = await s.exit;
    const text = s.text();
    return {
      exit,
      tasks: all(text, /^Task created: (.*)$/gm),
      statuses: all(text, /^Task status: (.*)$/gm),
      asked: all(text, /^\[Elicitation\] Server asks: (.*)$/gm),
      sampled: all(text, /^\[Sampling\] Server requests LLM completion for: (.*)$/gm),
      results: all(text, /^Result:\s+(.*)$/gm),
      errors: all(text, /^Error: (.*)$/gm),
      complete: text.includes('Demo complete'),
    };
  },
};

await drive({ client: `${versioned('@modelcontextprotocol/sdk')} example client`, file: 'example-client', flows, open });
