// login.mjs CLIENT URL AUDIT [--session kept|lost] - a real SDK client whose host has nothing but a URL logs in from the 401 that it gets, uses the
// server, loses its access token, and goes on with the next one. CLIENT is sdk (npm @modelcontextprotocol/sdk, 2025-11-25) or
// client (npm @modelcontextprotocol/client, 2026-07-28); AUDIT is where the authorization server tells what was done.
// A session of 2025-11-25 is kept with the next token where the bridge verifies tokens, and lost (404) where it cannot tell
// that both are of one user; the host begins a new one then.
// Prints what it saw as one line of JSON and exits 1 with a reason if that is not as it should be.
import assert from 'node:assert/strict';
import { readOptions, usage, versioned } from './options.mjs';

const KINDS = {
  sdk: async () => {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return { Client, StreamableHTTPClientTransport, name: versioned('@modelcontextprotocol/sdk'), options: {} };
  },
  client: async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const options = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
    return { Client, StreamableHTTPClientTransport, name: versioned('@modelcontextprotocol/client'), options };
  },
};

const { client: kind, url, audit: auditURL, session } = readOptions({
  options: { session: { type: 'string', default: 'kept' } },
  positionals: ['client', 'url', 'audit'],
  help: 'usage: login.mjs sdk|client URL AUDIT [--session kept|lost]',
});
if (!KINDS[kind]) usage(`no client ${kind}`);
const { Client, StreamableHTTPClientTransport, name, options } = await KINDS[kind]();

/** A host that keeps everything in memory, and whose browser follows one redirect. */
const host = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: {
    client_name: 'taskbridge interop',
    redirect_uris: ['http://127.0.0.1:1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  },
  clientInformation: () => host.information,
  saveClientInformation: information => void (host.information = information),
  tokens: () => host.saved,
  saveTokens: tokens => void (host.saved = tokens),
  saveCodeVerifier: verifier => void (host.verifier = verifier),
  codeVerifier: () => host.verifier,
  saveDiscoveryState: state => void (host.discovered = state),
  discoveryState: () => host.discovered,
  async redirectToAuthorization(to) {
    const answer = await fetch(to, { redirect: 'manual' });
    assert.equal(answer.status, 302, `the authorization server refused: ${await answer.text()}`);
    host.callback = new URL(answer.headers.get('location')).searchParams;
  },
};

const audit = async () => (await fetch(auditURL)).json();
const before = await audit();

const MODERN = '2026-07-28';
const info = { name: 'login', version: '1.0.0' };
const PREFIX = 'io.modelcontextprotocol/';
const OPENINGS = {
  sdk: { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info } },
  client: {
    method: 'server/discover',
    params: { _meta: { [`${PREFIX}protocolVersion`]: MODERN, [`${PREFIX}clientInfo`]: info, [`${PREFIX}clientCapabilities`]: {} } },
  },
};

// Without a provider: the 401 itself, and that it says where to go on.
const refusal = await fetch(url, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...(kind === 'client' ? { 'MCP-Protocol-Version': MODERN, 'Mcp-Method': 'server/discover' } : {}),
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...OPENINGS[kind] }),
});
const challenge = refusal.headers.get('www-authenticate') ?? '';
assert.equal(refusal.status, 401);
assert.match(challenge, /^Bearer .*resource_metadata="[^"]+"/);

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: host });
  const client = new Client(info, { capabilities: {}, ...options });
  return { transport, client, done: client.connect(transport) };
};

// The login: the first connection is refused and sends the user to the authorization server.
let s = await connect();
await assert.rejects(s.done, /Unauthorized/);
assert.ok(host.callback?.get('code'), 'the user was never asked');
if (kind === 'client') await s.transport.finishAuth(host.callback);
else await s.transport.finishAuth(host.callback.get('code'));
await s.client.close().catch(() => {});
s = await connect();
await s.done;
const tools = (await s.client.listTools()).tools.map(tool => tool.name);
assert.ok(tools.includes('add'), `tools: ${tools}`);
const add = () => s.client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
assert.match(JSON.stringify((await add()).content), /5/);

// A token that is no good any more is replaced without asking the user.
const token = host.saved.access_token;
host.saved = { ...host.saved, access_token: `${token.slice(0, -10)}AAAAAAAAAA` };
if (session === 'lost') {
  await assert.rejects(add(), /unknown session/);
  await s.client.close().catch(() => {});
  s = await connect();
  await s.done;
}
assert.match(JSON.stringify((await add()).content), /5/);
assert.notEqual(host.saved.access_token, token);
await s.client.close();

const after = await audit();
const did = Object.fromEntries(Object.entries(after).map(([k, v]) => [k, Array.isArray(v) ? v.slice(before[k].length) : v - before[k]]));
assert.deepEqual({ registered: did.registered, authorized: did.authorized, codes: did.codes, refreshes: did.refreshes }, { registered: 1, authorized: 1, codes: 1, refreshes: 1 });
assert.deepEqual(new Set(did.resources), new Set([url]), 'tokens are for another resource than the route');
console.log(JSON.stringify({ client: name, url, challenge, did }));
