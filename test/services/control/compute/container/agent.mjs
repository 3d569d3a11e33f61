// The agent of an image: follows the container contract, exits on SIGTERM, and runs test commands.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';

const { env } = process;

/** The first data that the server at the database's address sends. */
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

/** Posts its runs to the tracing URL. */
async function reportRuns() {
  const { status } = await fetch(env.LANDFALL_TRACING_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.LANDFALL_TRACING_TOKEN}` },
    body: '{"runs":[]}',
  });
  return { recorded: status };
}

/** The memory limit of its cgroup, in bytes. */
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
  '/report': reportRuns,
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
// The stand-in engine has no network of its own: listen on any port and write it to a file.
const standsIn = process.argv.includes('--stand-in-port');
server.listen(standsIn ? 0 : Number(env.PORT), env.HOST, () => {
  if (standsIn) writeFileSync(env.STAND_IN_PORT_FILE, String(server.address().port));
});
