// show.mjs FILE... - prints recordings as readable transcripts, one line an event.
import fs from 'node:fs';

const SHOWN_HEADERS = /^(accept|content-type|mcp-|last-event-id|cache-control|allow|www-auth)/i;
const cut = (value, max = 700) => {
  const text = JSON.stringify(value);
  return text.length > max ? `${text.slice(0, max)}…` : text;
};

function line({ t, n, ev, headers = [], ...rest }) {
  const shown = headers
    .filter(([name]) => SHOWN_HEADERS.test(name))
    .map(pair => pair.join(': '))
    .join(' | ');
  switch (ev) {
    case 'note':
      return `# ${cut(rest)}`;
    case 'request':
      return `${t} [${n}] > ${rest.method} ${rest.path} {${shown}} ${cut(rest.body)}`;
    case 'response':
      return `${t} [${n}] < ${rest.status} {${shown}}`;
    case 'body':
      return `${t} [${n}] < BODY ${cut(rest.body)}`;
    case 'sse':
      return `${t} [${n}] < SSE ${cut(rest)}`;
    default:
      return `${t} [${n}] . end by ${rest.by} ${rest.error ?? ''}`;
  }
}

for (const file of process.argv.slice(2)) {
  console.log(`== ${file}`);
  for (const text of fs.readFileSync(file, 'utf8').trim().split('\n')) console.log(line(JSON.parse(text)));
}
