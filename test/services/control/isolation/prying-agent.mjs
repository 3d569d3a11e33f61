// Follows the agent server's contract, and tries on request what its process can reach.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
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
  // Holds that many connections which never log in, and reopens each one that is closed.
  hold: async (count) => {
    const url = new URL(process.env.DATABASE_URI);
    const host = url.searchParams.get('host');
    const to = host ? { path: `${host}/.s.PGSQL.${url.port}` } : { host: url.hostname, port: Number(url.port) };
    const words = `user\0${url.username}\0database\0${url.pathname.slice(1)}\0\0`;
    const startup = Buffer.alloc(8 + words.length);
    startup.writeUInt32BE(startup.length, 0);
    startup.writeUInt32BE(196_608, 4);
    startup.write(words, 8);
    const open = (isSilent) =>
      new Promise((resolve) => {
        const socket = connect(to, () => (isSilent ? resolve() : socket.write(startup)));
        socket.on('data', resolve).on('error', resolve);
        socket.on('close', () => (resolve(), setTimeout(() => void open(isSilent), 5)));
      });
    // Some connections send nothing: the server accepts twice as many of them.
    await Promise.all(Array.from({ length: Number(count) }, (_, at) => open(at % 3 === 0)));
  },
  // Starts that many queries that ignore a disconnect, and disconnects.
  abandon: async (count) => {
    const abandonOne = async () => {
      const client = new Client({ connectionString: process.env.DATABASE_URI });
      client.on('error', () => undefined);
      await client.connect();
      await client.query('set client_connection_check_interval = 0');
      client.query('select pg_sleep(3600)').catch(() => undefined);
      await new Promise((resolve) => client.connection.stream.write('', resolve));
      client.connection.stream.destroy();
    };
    await Promise.all(Array.from({ length: Number(count) }, abandonOne));
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
