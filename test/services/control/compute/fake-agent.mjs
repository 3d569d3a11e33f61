// Follows the agent server's contract without graphs: starts fast, and misbehaves on demand.
// Variables select the behavior: FAKE_START (dies, silent, lies, ill), FAKE_STOP (hangs), FAKE_SAY (a line to print),
// FAKE_CHILD (a file for the id of a child that ignores signals), FAKE_RUN (a script to start), FAKE_DIES_IF (a file
// whose existence fails the start).
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { env } = process;
if (env.FAKE_SAY) console.log(env.FAKE_SAY);
if (env.FAKE_START === 'dies') {
  console.error('The graph "echo" has no export named graph.');
  process.exit(1);
}
if (env.FAKE_DIES_IF && existsSync(env.FAKE_DIES_IF)) {
  console.log('looking for the model');
  console.error('The model is gone.');
  process.exit(3);
}
if (env.FAKE_CHILD) {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  writeFileSync(env.FAKE_CHILD, String(child.pid));
}
if (env.FAKE_RUN) spawn('/bin/sh', ['-c', env.FAKE_RUN], { stdio: 'ignore' });
process.on('SIGTERM', () => {});

let requested = 0;
const eaten = [];
const server = createServer((request, response) => {
  if (request.headers['x-landfall-agent-token'] !== env.LANDFALL_AGENT_TOKEN) return response.writeHead(401).end();
  requested += 1;
  if (env.FAKE_START === 'ill' || (env.FAKE_START === 'slow' && requested < 3)) return response.writeHead(503).end();
  if (request.url === '/env')
    return response.end(JSON.stringify({ ...env, cwd: process.cwd(), argv: process.execPath }));
  if (request.url === '/crash') process.exit(7);
  if (request.url === '/eat') {
    // The allocation may end this process before the response is sent.
    setTimeout(() => eaten.push(Buffer.alloc(256 * 1_048_576, 1)), 300);
    return response.end(JSON.stringify(process.execArgv));
  }
  if (request.url === '/stream') {
    // Sends a chunk at intervals for as long as a switch and its drain take.
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = 20;
    const piece = setInterval(() => {
      response.write(`data: ${env.LANDFALL_REVISION_ID}\n\n`);
      left -= 1;
      if (left > 0) return;
      clearInterval(piece);
      response.end('data: end\n\n');
    }, 50);
    return undefined;
  }
  if (request.url === '/slow') {
    response.writeHead(200).write('begun ');
    return setTimeout(() => response.end('done'), 300);
  }
  if (request.url === '/info') return response.end(JSON.stringify({ version: env.FAKE_VERSION ?? '1.2.3' }));
  if (request.url === '/endless') return response.writeHead(200).write('begun ');
  if (request.url === '/say') console.error('said later');
  response.end(JSON.stringify({ ok: true, revision, pid: process.pid }));
});

const events = { wake: 'serving', promote: 'serving', discard: 'discarded', rest: 'idle' };
let revision = env.LANDFALL_REVISION_ID;
process.stdin.on('data', (written) => {
  const command = JSON.parse(written);
  if (command.do === 'wake') revision = command.revision_id;
  if (env.FAKE_STOP !== 'hangs') console.log(JSON.stringify({ event: events[command.do] }));
  console.log(`received ${command.do}`);
});
process.stdin.resume().on('end', () => {
  if (env.FAKE_STOP === 'hangs') return;
  if (env.FAKE_STOP === 'says') console.log('draining');
  server.close(() => process.exit(0));
  setInterval(() => server.closeIdleConnections(), 20);
});

const listens = () => console.log(JSON.stringify({ event: 'listening' }));
if (env.FAKE_START === 'lies') listens();
else if (env.FAKE_START !== 'silent') server.listen(env.LANDFALL_AGENT_SOCKET, listens);
