// The agent of an image: keeps what containers have to keep, ends by SIGTERM, and does what it is asked to.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';

const { env } = process;

/** What whoever is at the database's address says first. */
const greeting = () =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(env.DATABASE_URI);
    const socket = connect(Number(port), hostname);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(String(data));
    });
    socket.once('error', (error) => resolve(error.code));
  });

/** Tells of its runs where it was told to. */
async function reportRuns() {
  const { status } = await fetch(env.LANDFALL_TRACING_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.LANDFALL_TRACING_TOKEN}` },
    body: '{"runs":[]}',
  });
  return { recorded: status };
}

/** What bounds its memory, in bytes, as its own machine tells it. */
function memoryBound() {
  const files = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];
  return Number(readFileSync(files.find(existsSync), 'utf8'));
}

const answers = {
  '/memory': () => ({ bound: memoryBound() }),
  '/ok': () => ({ ok: true, revision: env.LANDFALL_REVISION_ID }),
  '/env': () => env,
  '/database': async () => ({ said: await greeting() }),
  '/say': () => console.error('said later') ?? {},
  '/tell': reportRuns,
  '/crash': () => process.exit(7),
};

const server = createServer((request, response) => void reply(request, response));

async function reply(request, response) {
  if (request.headers['x-landfall-agent-token'] !== env.LANDFALL_AGENT_TOKEN) return void response.writeHead(401).end();
  const answer = answers[request.url];
  response.writeHead(answer ? 200 : 404).end(JSON.stringify((await answer?.()) ?? {}));
  return undefined;
}
process.on('SIGTERM', () => {
  console.log('leaving');
  server.close(() => process.exit(0));
  server.closeAllConnections();
});
if (env.FAKE_SAY) console.log(env.FAKE_SAY);
if (env.FAKE_START === 'dies') {
  console.error('The model is gone.');
  process.exit(3);
}
// The stand-in for an engine has no network of its own: any port will do, and it wants to know which.
const standsIn = process.argv.includes('--stand-in-port');
server.listen(standsIn ? 0 : Number(env.PORT), env.HOST, () => {
  if (standsIn) writeFileSync(env.STAND_IN_PORT_FILE, String(server.address().port));
});
