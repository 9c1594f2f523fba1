// recorder.mjs - a recording reverse proxy for MCP Streamable HTTP on loopback.
//
//   node recorder.mjs --target http://127.0.0.1:3001/mcp --out wire.jsonl [--listen 4100]
//
// or, from a driver:  const rec = await startRecorder({ target, out, note });  rec.url;  await rec.close()
//
// One JSON object a line, in time order; n = number of the HTTP exchange, t = ms since the start.
//   {t, ev:"note", ...}                                              what was recorded, and the driver's verdict
//   {t, n, ev:"request", method, path, headers:[[Name, value]...], body}   names in the case they were sent
//   {t, n, ev:"response", status, headers:[[Name, value]...]}        when the answer's headers arrive
//   {t, n, ev:"body", body}                                          a body that is no event stream
//   {t, n, ev:"sse", id?, event?, retry?, comment?, data?}           one event of a stream
//   {t, n, ev:"end", by:"server"|"client", error?}                   who closed the exchange
// Bodies and event data are parsed when they are JSON. Nothing is changed on the way.
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { readOptions } from './options.mjs';

const HOP_BY_HOP = /^(connection|keep-alive|transfer-encoding)$/i;

const pairs = raw => {
  const out = [];
  for (let i = 0; i < raw.length; i += 2) out.push([raw[i], raw[i + 1]]);
  return out;
};

const endToEnd = raw =>
  pairs(raw)
    .filter(([name]) => !HOP_BY_HOP.test(name))
    .flat();

function parsed(text) {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** One event-stream block (without its blank line) as a log entry. */
function parseEvent(block) {
  const entry = {};
  const data = [];
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith(':')) {
      entry.comment = line.slice(1).trim();
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    else if (field) entry[field] = value;
  }
  return data.length ? { ...entry, data: parsed(data.join('\n')) } : entry;
}

/** Logs the answer's bytes: event by event for a stream, in one piece otherwise. Returns {chunk, end}. */
function answerLog(contentType, log) {
  const isStream = contentType.startsWith('text/event-stream');
  const decoder = new TextDecoder();
  let text = '';
  let ended = false;
  return {
    chunk(bytes) {
      text += decoder.decode(bytes, { stream: true });
      if (!isStream) return;
      for (let m; (m = /\r?\n\r?\n/.exec(text)); text = text.slice(m.index + m[0].length)) {
        log({ ev: 'sse', ...parseEvent(text.slice(0, m.index)) });
      }
    },
    end(by, error) {
      if (ended) return;
      ended = true;
      if (isStream && text.trim()) log({ ev: 'sse', ...parseEvent(text) });
      if (!isStream && text) log({ ev: 'body', body: parsed(text) });
      log({ ev: 'end', by, ...(error ? { error: error.message } : {}) });
    },
  };
}

/** Sends one recorded request on and copies the answer back as it arrives. */
function forward({ req, res, body, base, agent, log }) {
  const options = {
    host: base.hostname,
    port: base.port || 80,
    method: req.method,
    path: req.url,
    agent,
    headers: endToEnd(req.rawHeaders),
  };
  const up = http.request(options, answer => {
    log({ ev: 'response', status: answer.statusCode, headers: pairs(answer.rawHeaders) });
    res.writeHead(answer.statusCode, answer.statusMessage, endToEnd(answer.rawHeaders));
    res.flushHeaders();
    const record = answerLog(answer.headers['content-type'] ?? '', log);
    answer.on('data', bytes => {
      res.write(bytes);
      record.chunk(bytes);
    });
    answer.on('end', () => {
      record.end('server');
      res.end();
    });
    answer.on('error', e => {
      record.end('server', e);
      res.destroy();
    });
    res.on('close', () => {
      record.end('client');
      up.destroy();
    });
  });
  up.on('error', e => {
    if (res.headersSent) return;
    log({ ev: 'end', by: 'server', error: e.message });
    res.writeHead(502).end();
  });
  up.end(body);
}

/** Starts recording `target` into `out`; the same path is served on a loopback port. */
export async function startRecorder({ target, out, listen = 0, note }) {
  const base = new URL(target);
  fs.mkdirSync(path.dirname(path.resolve(out)), { recursive: true });
  const fd = fs.openSync(out, 'w');
  const started = Date.now();
  let exchanges = 0;
  let closed = false;
  const log = entry => {
    if (!closed) fs.writeSync(fd, `${JSON.stringify({ t: Date.now() - started, ...entry })}\n`);
  };
  if (note) log({ ev: 'note', note });
  const agent = new http.Agent({ keepAlive: true });
  const server = http.createServer((req, res) => {
    const n = ++exchanges;
    const chunks = [];
    req.on('data', c => chunks.push(c));
    req.on('end', () => {
      const body = Buffer.concat(chunks);
      log({ n, ev: 'request', method: req.method, path: req.url, headers: pairs(req.rawHeaders), body: parsed(body.toString('utf8')) });
      forward({ req, res, body, base, agent, log: entry => log({ n, ...entry }) });
    });
  });
  await new Promise((ok, fail) => server.once('error', fail).listen(listen, '127.0.0.1', ok));
  return {
    url: `http://127.0.0.1:${server.address().port}${base.pathname}`,
    log,
    async close() {
      server.closeAllConnections();
      await new Promise(ok => server.close(ok));
      await new Promise(ok => setTimeout(ok, 30)); // the close events of the cut exchanges are still to be logged
      closed = true;
      agent.destroy();
      fs.closeSync(fd);
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { target, out, listen } = readOptions({
    options: { target: { type: 'string' }, out: { type: 'string' }, listen: { type: 'string', default: '0' } },
    positionals: [],
    help: 'usage: recorder.mjs --target URL --out FILE [--listen PORT]',
  });
  const rec = await startRecorder({ target, out, listen: Number(listen) });
  console.log(`recording ${rec.url} into ${out}`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => rec.close().then(() => process.exit(0)));
}
