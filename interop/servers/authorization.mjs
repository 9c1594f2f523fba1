// authorization.mjs PORT [TARGET] - an OAuth 2.1 authorization server for one user, who always agrees, and, at /mcp, a
// protected resource that passes everything on to TARGET for whoever has one of its tokens.
//
// Metadata (RFC 8414, with `iss` in answers, RFC 9207), dynamic registration (RFC 7591), codes with PKCE (S256 only), refresh
// tokens that are good once, resource indicators (RFC 8707), JWTs (RFC 9068) and a key set. Whatever a client leaves out or
// gets wrong is refused, so that a login proves something. GET /audit tells what was done.
import { createHash, generateKeyPairSync, randomUUID, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import http from 'node:http';

const [port, target] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const SCOPES = ['tools', 'offline_access'];
const LIFETIME_S = 300;

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' };

const clients = new Map(); // client_id -> redirect_uris
const codes = new Map(); // code -> {client, redirect, challenge, resource, scope}
const refreshes = new Map(); // refresh token -> {client, resource, scope}
const audit = { registered: 0, authorized: 0, codes: 0, refreshes: 0, resources: [], scopes: [], passed: 0, refused: 0 };

class Refused extends Error {
  constructor(error, why) {
    super(why);
    this.error = error;
  }
}

const want = (holds, error, why) => {
  if (!holds) throw new Refused(error, why);
};

const base64 = value => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

function sign(claims) {
  const text = `${base64({ alg: 'ES256', typ: 'at+jwt', kid: key.kid })}.${base64(claims)}`;
  return `${text}.${signBytes('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

/** The claims of one of our tokens that has not expired, or null. */
function claimsOf(jwt) {
  const [head, payload, signature] = jwt.split('.');
  if (!signature) return null;
  const good = verifyBytes('sha256', Buffer.from(`${head}.${payload}`), { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  const claims = good ? JSON.parse(Buffer.from(payload, 'base64url')) : null;
  return claims && claims.exp > Date.now() / 1000 ? claims : null;
}

/** New tokens; the resource is the audience. */
function issue({ client, resource, scope }) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: 'alice', aud: resource, client_id: client, scope, iat: now, exp: now + LIFETIME_S, jti: randomUUID() };
  const refresh = randomUUID();
  refreshes.set(refresh, { client, resource, scope });
  audit.resources.push(resource);
  return { access_token: sign(claims), token_type: 'Bearer', expires_in: LIFETIME_S, scope, refresh_token: refresh };
}

function register(body) {
  const { redirect_uris } = JSON.parse(body);
  want(Array.isArray(redirect_uris) && redirect_uris.length, 'invalid_redirect_uri', 'no redirect_uris');
  const client_id = randomUUID();
  clients.set(client_id, redirect_uris);
  audit.registered += 1;
  return { client_id, redirect_uris, token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'] };
}

/** The user agrees at once: where the browser goes next. */
function authorize(query) {
  const client = query.get('client_id');
  const redirect = query.get('redirect_uri');
  want(clients.get(client)?.includes(redirect), 'invalid_request', 'unknown client or redirect_uri');
  want(query.get('response_type') === 'code', 'unsupported_response_type', 'want a code');
  want(query.get('code_challenge_method') === 'S256' && query.get('code_challenge'), 'invalid_request', 'want PKCE with S256');
  want(URL.canParse(query.get('resource') ?? ''), 'invalid_target', 'want a resource');
  const code = randomUUID();
  const [resource, scope] = [query.get('resource'), query.get('scope') ?? ''];
  codes.set(code, { client, redirect, challenge: query.get('code_challenge'), resource, scope });
  audit.authorized += 1;
  audit.scopes.push(scope);
  const back = new URL(redirect);
  back.searchParams.set('code', code);
  back.searchParams.set('iss', issuer);
  if (query.has('state')) back.searchParams.set('state', query.get('state'));
  return back.href;
}

function token(body) {
  const form = new URLSearchParams(body);
  const client = form.get('client_id');
  const grants = { authorization_code: [codes, 'code'], refresh_token: [refreshes, 'refresh_token'] };
  const [kept, member] = grants[form.get('grant_type')] ?? [];
  want(kept, 'unsupported_grant_type', 'want a code or a refresh token');
  const grant = kept.get(form.get(member));
  kept.delete(form.get(member));
  want(grant && grant.client === client, 'invalid_grant', 'unknown code or refresh token');
  want(form.get('resource') === grant.resource, 'invalid_target', 'another resource than was agreed to');
  if (kept === codes) {
    const verifier = createHash('sha256').update(form.get('code_verifier') ?? '').digest('base64url');
    want(verifier === grant.challenge, 'invalid_grant', 'PKCE failed');
    want(form.get('redirect_uri') === grant.redirect, 'invalid_grant', 'another redirect_uri');
    audit.codes += 1;
  } else audit.refreshes += 1;
  return issue(grant);
}

const metadata = {
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
  scopes_supported: SCOPES,
};

/** The protected resource: it knows its own tokens by their signature. */
function guarded(req, res, body) {
  if (!claimsOf((req.headers.authorization ?? '').replace(/^Bearer /i, ''))) {
    audit.refused += 1;
    res.writeHead(401, { 'WWW-Authenticate': `Bearer scope="tools", resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"` });
    return res.end();
  }
  audit.passed += 1;
  const { host, connection, ...headers } = req.headers;
  const onward = http.request(target, { method: req.method, headers }, answer => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  onward.on('error', () => res.destroy());
  res.on('close', () => onward.destroy());
  onward.end(body);
}

const json = (res, status, body) => {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  res.end(JSON.stringify(body));
};

function serve(req, res, body) {
  const url = new URL(req.url, issuer);
  switch (`${req.method} ${url.pathname}`) {
    case 'GET /.well-known/oauth-authorization-server':
      return json(res, 200, metadata);
    case 'GET /.well-known/oauth-protected-resource/mcp':
      return json(res, 200, { resource: `${issuer}/mcp`, authorization_servers: [issuer], scopes_supported: SCOPES });
    case 'GET /keys':
      return json(res, 200, { keys: [key] });
    case 'POST /register':
      return json(res, 201, register(body));
    case 'GET /authorize':
      res.writeHead(302, { Location: authorize(url.searchParams) });
      return res.end();
    case 'POST /token':
      return json(res, 200, token(String(body)));
    case 'GET /audit':
      return json(res, 200, audit);
  }
  if (url.pathname === '/mcp' && target) return guarded(req, res, body);
  return json(res, 404, { error: 'not_found' });
}

http
  .createServer(async (req, res) => {
    try {
      const parts = [];
      for await (const part of req) parts.push(part);
      serve(req, res, Buffer.concat(parts));
    } catch (e) {
      if (res.headersSent) res.destroy();
      else json(res, 400, { error: e.error ?? 'invalid_request', error_description: e.message });
    }
  })
  .listen(Number(port), '127.0.0.1');
