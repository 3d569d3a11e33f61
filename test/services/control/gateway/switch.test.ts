import type { RequestListener } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { apiKey, deploymentId, listen, listenAsGateway, type Party } from './parties.ts';

const parties: Party[] = [];
afterEach(async () => {
  for (const party of parties.splice(0)) await party.close();
});
const kept = async <P extends Party>(party: Promise<P>): Promise<P> => {
  parties.push(await party);
  return party;
};

const headers = { 'x-api-key': apiKey };
const answering =
  (text: string): RequestListener =>
  (_request, response) =>
    response.end(text);

test('no call fails during switches, and the new process serves afterwards', async () => {
  const { gateway, address } = await kept(listenAsGateway());
  const open = async (name: string): Promise<Party> => {
    const agent = await kept(listen(answering(name)));
    return agent;
  };
  let live = await open('0');
  gateway.switchTo(deploymentId, { origin: live.origin, token: 't' });

  const seen = { going: true, answered: 0, failed: new Array<unknown>() };
  const load = Array.from({ length: 8 }, async () => {
    while (seen.going) {
      try {
        const response = await fetch(`${address}/ok`, { method: 'POST', headers, body: 'x' });
        await response.text();
        if (response.status === 200) seen.answered += 1;
        else seen.failed.push(response.status);
      } catch (error) {
        seen.failed.push(error);
      }
    }
  });
  for (const name of ['1', '2', '3', '4', '5']) {
    const enough = seen.answered + 40;
    const next = await open(name);
    const former = gateway.switchTo(deploymentId, { origin: next.origin, token: 't' });
    expect(await (await fetch(`${address}/ok`, { headers })).text()).toBe(name);
    await former?.drained();
    former?.close();
    await live.close();
    live = next;
    while (seen.answered < enough) await new Promise((resolve) => setImmediate(resolve));
  }
  seen.going = false;
  await Promise.all(load);
  expect(seen.failed).toEqual([]);
});

test('a stream that is open during a switch ends on its original process', async () => {
  const { gateway, address } = await kept(listenAsGateway());
  let finish = (): void => {};
  const old = await kept(
    listen((_request, response) => {
      response.writeHead(200).write('old ');
      finish = () => response.end('to the end');
    }),
  );
  const next = await kept(listen(answering('new')));
  gateway.switchTo(deploymentId, { origin: old.origin, token: 't' });
  const stream = await fetch(`${address}/runs/stream`, { headers });

  const former = gateway.switchTo(deploymentId, { origin: next.origin, token: 't' });
  expect(await (await fetch(`${address}/ok`, { headers })).text()).toBe('new');
  expect(former?.inFlight()).toBe(1);
  let drained = false;
  const draining = former?.drained().then(() => (drained = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(drained).toBe(false);

  finish();
  expect(await stream.text()).toBe('old to the end');
  await draining;
  expect(former?.inFlight()).toBe(0);
});

test('a withdrawn deployment is not live for the next call', async () => {
  const { gateway, address } = await kept(listenAsGateway());
  const agent = await kept(listen(answering('here')));
  gateway.switchTo(deploymentId, { origin: agent.origin, token: 't' });
  expect(gateway.live(deploymentId)?.origin).toBe(agent.origin);
  expect(gateway.withdraw(deploymentId)?.upstream.origin).toBe(agent.origin);
  expect((await fetch(`${address}/ok`, { headers })).status).toBe(503);
  expect(gateway.live(deploymentId)).toBeUndefined();
});
