// client-driver.mjs - the client that suite.mjs gives to the official suite when the bridge's own client is measured.
//
//   node client-driver.mjs MOCK_URL        TASKBRIDGE_BIN names the bridge
//
// The suite serves one revision at MOCK_URL and judges what arrives there. This driver starts the bridge in front of that
// server and does with a real client of the other revision what the scenario needs; so every check is on the bridge. The
// suite's own time limit ends only the shell that it started, so this process has one of its own.
import { spawn } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import * as modern from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as T from '@modelcontextprotocol/sdk/types.js';

const LIMIT_MS = 25_000;
const REQUEST_MS = 15_000;
const CAPABILITIES = { elicitation: { form: {} }, sampling: {}, roots: {} };
const INFO = { name: 'conformance-driver', version: '1.0.0' };
const mock = process.argv.at(-1);
const { TASKBRIDGE_BIN, MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_PROTOCOL_VERSION: revision } = process.env;
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}');

function freePort() {
  return new Promise(resolve => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const listens = port =>
  new Promise(resolve => {
    const socket = net.connect(port, '127.0.0.1', () => socket.destroy(resolve(true)));
    socket.on('error', () => resolve(false));
  });

/** Starts the bridge in front of the suite's server: the URL of one of its faces. */
async function startBridge(face) {
  const port = await freePort();
  const flags = ['--listen', `127.0.0.1:${port}`, '--admin', 'off', '--store', 'memory:', '--backend', `default=${mock}`];
  const bridge = spawn(TASKBRIDGE_BIN, ['serve', ...flags], { stdio: ['ignore', 'inherit', 'inherit'] });
  process.on('exit', () => bridge.kill('SIGKILL'));
  while (!(await listens(port))) {
    if (bridge.exitCode !== null) throw new Error(`the bridge ended with ${bridge.exitCode}`);
    await new Promise(r => setTimeout(r, 50));
  }
  return new URL(`http://127.0.0.1:${port}/${face}/default`);
}

/** A form filled in with its defaults, or with anything of the right type. */
function filled(params) {
  const value = ({ type, default: preset }) => preset ?? { boolean: true, string: 'x' }[type] ?? 1;
  const properties = Object.entries(params.requestedSchema?.properties ?? {});
  return { action: 'accept', content: Object.fromEntries(properties.map(([name, schema]) => [name, value(schema)])) };
}

/** What the scenarios do with a connected client, given how it sends a request. */
function stepsWith(request) {
  const call = (name, args = {}) => request('tools/call', { name, arguments: args });
  const list = async () => (await request('tools/list')).tools;
  return { request, call, list };
}

async function connectLegacy() {
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  const steps = stepsWith((method, params = {}) => client.request({ method, params }, T.ResultSchema, { timeout: REQUEST_MS }));
  client.setRequestHandler(T.ElicitRequestSchema, async ({ params }) => {
    // a call of its own in the middle of a question: nothing of the one may show in the other
    if (scenario === 'sep-2322-client-request-state') await steps.call('test_mrtr_unrelated');
    return filled(params);
  });
  await client.connect(new StreamableHTTPClientTransport(await startBridge('legacy')));
  return steps;
}

async function connectModern() {
  const client = new modern.Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  client.setRequestHandler('elicitation/create', ({ params }) => filled(params));
  await client.connect(new modern.StreamableHTTPClientTransport(await startBridge('modern')));
  return stepsWith((method, params = {}) => client.request({ method, params }, { timeout: REQUEST_MS }));
}

const CONNECT = { '2025-11-25': connectModern, '2026-07-28': connectLegacy };

const scenarios = {
  initialize: ({ list }) => list(),
  'request-metadata': ({ list }) => list(),
  'json-schema-ref-no-deref': ({ list }) => list(),
  async tools_call({ list, call }) {
    await list();
    await call('add_numbers', { a: 5, b: 3 });
  },
  async 'elicitation-sep1034-client-defaults'({ list, call }) {
    await list();
    await call('test_client_elicitation_defaults');
  },
  async 'sse-retry'({ list, call }) {
    await list();
    await call('test_reconnection');
  },
  async 'sep-2322-client-request-state'({ list, call }) {
    await list();
    for (const name of ['test_mrtr_echo_state', 'test_mrtr_no_state', 'test_mrtr_no_result_type']) await call(name);
  },
  async 'http-standard-headers'({ list, call, request }) {
    await list();
    await call('test_headers');
    const { resources } = await request('resources/list');
    await request('resources/read', { uri: resources[0].uri });
    await request('prompts/list');
    await request('prompts/get', { name: 'test_prompt' });
  },
  async 'http-custom-headers'({ list, call }) {
    await list();
    for (const c of context.toolCalls) await call(c.name, c.arguments);
  },
  async 'http-invalid-tool-headers'({ list, call }) {
    for (const { name } of await list()) await call(name, { region: 'us', value: 'x' }).catch(e => console.error(name, e.message));
  },
  async 'json-schema-2020-12-preservation'({ list, call }) {
    const { inputSchema } = (await list()).find(t => t.name === 'json_schema_2020_12_tool');
    await call('json_schema_echo', { schema: inputSchema });
  },
};

async function main() {
  if (!TASKBRIDGE_BIN) throw new Error('TASKBRIDGE_BIN is not set');
  if (!CONNECT[revision]) throw new Error(`no driver for revision ${revision}`);
  if (!scenarios[scenario]) throw new Error(`no driver for scenario ${scenario}`);
  await scenarios[scenario](await CONNECT[revision]());
}

setTimeout(() => {
  console.error(`${path.basename(import.meta.filename)}: not finished after ${LIMIT_MS} ms`);
  process.exit(1);
}, LIMIT_MS);
main().then(
  () => process.exit(0),
  e => {
    console.error(e);
    process.exit(1);
  },
);
