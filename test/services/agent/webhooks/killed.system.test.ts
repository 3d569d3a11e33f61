import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectAgentServer } from '../../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../../src/client/agent.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { until } from '../promises/fixture.ts';
import { sharedDatabase } from '../runs/two-servers.ts';
import type { Servers } from '../runs/two-servers.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from './hooked-agent.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

let servers: Servers;
let receiver: Receiver;
let folder: TemporaryAgent;
let killed: AgentProcess;
const clients: AgentServerClient[] = [];
beforeAll(async () => {
  [servers, receiver] = await Promise.all([sharedDatabase(), startReceiver()]);
  folder = hookedAgent({
    webhooks: {
      headers: { 'x-secret': '${{ env.LG_WEBHOOK_SECRET }}' },
      url: { allowed_ports: [receiver.port] },
    },
  });
  vi.stubEnv('LG_WEBHOOK_SECRET', 'secret-of-the-deployment');
  killed = await startAgentProcess({
    LANDFALL_GRAPH_CONFIG: folder.configPath,
    DATABASE_URI: servers.databaseUrl,
    LANDFALL_WEBHOOK_PRIVATE: 'allow',
    LG_WEBHOOK_SECRET: 'secret-of-the-deployment',
  });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  killed.child.kill('SIGKILL');
  await killed.gone;
  await servers.close();
  await receiver.close();
  folder.remove();
  vi.unstubAllEnvs();
});

/** The process that replaces the killed one runs in the test process, where it starts at once. */
const startNext = () => servers.start({ configPath: folder.configPath, webhooks: { privateNetworks: true } });

function clientOf({ url }: { url: string }): AgentServerClient {
  const agent = connectAgentServer({ url, userAgent: 'landfall-tests' });
  clients.push(agent);
  return agent;
}

const run = (path: string, more: object = {}) => ({
  assistant_id: 'hook',
  input: { word: 'hi', ...more },
  webhook: receiver.at(path),
});
const received = (path: string, count = 1) =>
  until(async () => (receiver.to(path).length >= count ? receiver.to(path) : undefined));
const bodyOf = (request: { body: string } | undefined) => Object(JSON.parse(request?.body ?? ''));

test('kill -9 during a run or before its delivery loses no webhook', async () => {
  const agent = clientOf(killed);
  const { thread_id } = await agent.createThread({});
  for (const path of ['/refusing', '/refusing-stateless']) receiver.answer(path, 503);
  await agent.waitRun(run('/refusing'), thread_id);
  // Its row is deleted by now: the queue has its webhook's payload.
  await agent.waitRun(run('/refusing-stateless'), undefined);
  const background = await agent.createRun(run('/taken-up', { sleep_ms: 1500 }), thread_id);
  const other = await agent.createThread({});
  const waited = agent.waitRun(run('/cut-off', { sleep_ms: 60_000 }), other.thread_id).catch(() => 'lost');
  await Promise.all([received('/refusing'), received('/refusing-stateless')]);
  await until(async () => ((await agent.getThread(other.thread_id)).status === 'busy' ? true : undefined));
  killed.child.kill('SIGKILL');
  expect(await killed.gone).toBe('SIGKILL');
  expect(await waited).toBe('lost');

  for (const path of ['/refusing', '/refusing-stateless']) receiver.answer(path, 200);
  const before = receiver.received.length;
  const next = await startNext();
  const after = (path: string) => receiver.received.slice(before).filter(({ url }) => url === path);
  await until(async () =>
    after('/refusing').length > 0 && after('/refusing-stateless').length > 0 ? true : undefined,
  );
  expect(bodyOf(after('/refusing')[0])).toMatchObject({ status: 'success', values: { said: 'said hi' } });
  expect(bodyOf(after('/refusing-stateless')[0])).toMatchObject({ status: 'success', error: null });
  // The background run continues and reports its outcome; the run without a client reports that it was cut off.
  expect(bodyOf((await received('/taken-up'))[0])).toMatchObject({ run_id: background.run_id, status: 'success' });
  expect(bodyOf((await received('/cut-off'))[0])).toMatchObject({ status: 'interrupted', error: null });
  for (const path of ['/taken-up', '/cut-off']) expect(receiver.to(path)).toHaveLength(1);
  for (const path of ['/refusing', '/refusing-stateless']) expect(after(path)).toHaveLength(1);
  expect(receiver.received.every(({ headers }) => headers['x-secret'] === 'secret-of-the-deployment')).toBe(true);
  expect([...killed.output, ...killed.log, ...servers.lines].join('\n')).not.toContain('secret-of-the-deployment');
  await next.close();
});

test('a stopping process delivers what has just ended', async () => {
  const leaving = await startNext();
  await clientOf(leaving).waitRun(run('/leaving'), undefined);
  await leaving.close();
  expect(receiver.to('/leaving')).toHaveLength(1);
});
