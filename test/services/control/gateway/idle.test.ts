import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { apiKey, deploymentId, listen, listenAsGateway, type Party } from './parties.ts';

const parties: Party[] = [];
afterEach(async () => {
  for (const party of parties.splice(0)) await party.close();
});

/** A gateway whose agent is scaled to zero until it is woken. */
async function scaledToZero({ starts = true }: { starts?: boolean } = {}) {
  const agent = await listen((request, response) => {
    response.writeHead(200, { 'access-control-allow-origin': '*' }).end(`served ${request.url}`);
  });
  let isStopped = true;
  let woken = 0;
  const idle = {
    isScaledToZero: () => isStopped,
    wakeAgent: async () => {
      woken += 1;
      if (starts) party.gateway.switchTo(deploymentId, { origin: agent.origin, token: 't' });
      isStopped = false;
    },
  };
  const party = await listenAsGateway(
    undefined,
    systemClock,
    () => true,
    () => idle,
  );
  parties.push(agent, party);
  return { ...party, woken: () => woken };
}

const headers = { 'x-api-key': apiKey };

test('a request waits until its agent is started, and is served', async () => {
  const { address, woken } = await scaledToZero();
  const response = await fetch(`${address}/runs/wait`, { method: 'POST', headers, body: '{}' });
  expect([response.status, await response.text(), woken()]).toEqual([200, 'served /runs/wait', 1]);
});

test('an agent that does not start again is reported as starting', async () => {
  const { address, woken } = await scaledToZero({ starts: false });
  const response = await fetch(`${address}/ok`, { headers });
  expect([response.status, response.headers.get('retry-after'), woken()]).toEqual([503, '2', 1]);
});

test.each([
  ['without a key', {}, 401],
  ['of another key', { 'x-api-key': 'lf_other' }, 401],
  ['of a page that polls', { ...headers, 'x-landfall-background': '1' }, 503],
])('a request %s starts nothing', async (_of, sent, status) => {
  const { address, woken } = await scaledToZero();
  const response = await fetch(`${address}/threads`, { headers: sent });
  expect([response.status, woken()]).toEqual([status, 0]);
});

test('a preflight of a browser starts the agent that answers it', async () => {
  const { address, woken } = await scaledToZero();
  const asked = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
  const response = await fetch(`${address}/runs`, { method: 'OPTIONS', headers: asked });
  expect([response.status, woken()]).toEqual([200, 1]);
});

test('an agent is idle since its last response, and not while one is open', async () => {
  let finish = (): void => {};
  const agent = await listen(({ method }, response) => {
    if (method === 'OPTIONS') return void response.writeHead(204).end();
    response.writeHead(200).write('begun ');
    finish = () => response.end('ended');
  });
  const party = await listenAsGateway();
  parties.push(agent, party);
  const { gateway, address } = party;
  expect(gateway.idleSince(deploymentId)).toBeUndefined();
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 't' });
  const since = gateway.idleSince(deploymentId) ?? NaN;
  const stream = await fetch(`${address}/runs/stream`, { headers });
  expect(gateway.idleSince(deploymentId)).toBeUndefined();
  await new Promise((resolve) => setTimeout(resolve, 20));
  finish();
  await stream.text();
  await expect.poll(() => gateway.idleSince(deploymentId) ?? 0).toBeGreaterThan(since);

  const used = gateway.idleSince(deploymentId);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const polled = await fetch(`${address}/threads`, { headers: { ...headers, 'x-landfall-background': '1' } });
  finish();
  await polled.text();
  await expect.poll(() => gateway.idleSince(deploymentId)).toBe(used);
  const asked = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
  await (await fetch(`${address}/runs`, { method: 'OPTIONS', headers: asked })).text();
  await expect.poll(() => gateway.idleSince(deploymentId)).toBe(used);
});

test('an agent is idle while anybody without a key reads a file of its UI', async () => {
  let finish = (): void => {};
  const agent = await listen((_, response) => {
    response.writeHead(200).write('begun ');
    finish = () => response.end('ended');
  });
  const party = await listenAsGateway();
  parties.push(agent, party);
  const { gateway, address } = party;
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 't' });
  const since = gateway.idleSince(deploymentId);
  const file = await fetch(`${address}/ui/agent/entrypoint.js`);
  const refused = await fetch(`${address}/threads`);
  expect([file.status, refused.status, gateway.idleSince(deploymentId)]).toEqual([200, 401, since]);
  finish();
  expect(await file.text()).toBe('begun ended');
  expect(gateway.idleSince(deploymentId)).toBe(since);
});
