// Keeps the agent server's contract with its starter, and tries what it is asked to try: what its process may reach.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Client } from 'pg';

const attempts = {
  read: (path) => closeSync(openSync(path)),
  list: (path) => void readdirSync(path),
  write: (path) => writeFileSync(path, 'mine now', { flag: 'a' }),
  text: (path) => readFileSync(path, 'utf8'),
  run: (script) => execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  kill: (pid) => void process.kill(Number(pid), 0),
  connect: async (database) => {
    const url = new URL(process.env.DATABASE_URI);
    url.pathname = `/${database}`;
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await client.end();
  },
  query: async (sql) => {
    const client = new Client({ connectionString: process.env.DATABASE_URI });
    await client.connect();
    try {
      return JSON.stringify((await client.query(sql)).rows);
    } finally {
      await client.end();
    }
  },
};

const server = createServer((request, response) => void answer(request, response));

async function answer(request, response) {
  if (request.headers['x-landfall-agent-token'] !== process.env.LANDFALL_AGENT_TOKEN)
    return response.writeHead(401).end();
  const { pathname, searchParams } = new URL(request.url, 'http://agent');
  if (pathname !== '/try') return response.end('{"ok":true}');
  try {
    const said = await attempts[searchParams.get('what')](searchParams.get('of'));
    response.end(JSON.stringify({ done: true, said: said ?? '', pid: process.pid, uid: process.getuid?.() }));
  } catch (error) {
    response.end(JSON.stringify({ done: false, code: error.code ?? String(error) }));
  }
}

process.stdin.resume().on('end', () => process.exit(0));
server.listen(process.env.LANDFALL_AGENT_SOCKET, () => console.log(JSON.stringify({ event: 'listening' })));
