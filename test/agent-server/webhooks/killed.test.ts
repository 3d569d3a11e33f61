import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { connectAgentServer } from '../../../src/client/agent.ts';
import type { AgentServerClient } from '../../../src/client/agent.ts';
import { startTestPostgres } from '../../database/postgres.ts';
import type { TestPostgres } from '../../database/postgres.ts';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { until } from '../promises/given.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';
import { hookedAgent } from './hooked-agent.ts';
import { startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';

/** Starting a process takes seconds where many tests run at once. */
vi.setConfig({ testTimeout: 90_000 });

let postgres: TestPostgres;
let receiver: Receiver;
let folder: TemporaryAgent;
const begun: AgentProcess[] = [];
const clients: AgentServerClient[] = [];
beforeAll(async () => {
  [postgres, receiver] = await Promise.all([startTestPostgres(), startReceiver()]);
  folder = hookedAgent({
    webhooks: {
      headers: { 'x-secret': '${{ env.LG_WEBHOOK_SECRET }}' },
      url: { allowed_ports: [receiver.port] },
    },
  });
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const { child } of begun) child.kill('SIGKILL');
  await Promise.all(begun.splice(0).map(({ gone }) => gone));
});
afterAll(async () => {
  await receiver.close();
  await postgres.stop();
  folder.remove();
});

async function start(): Promise<AgentProcess & { agent: AgentServerClient }> {
  const process = await startAgentProcess({
    LANDFALL_GRAPH_CONFIG: folder.configPath,
    DATABASE_URI: postgres.url,
    LANDFALL_WEBHOOK_PRIVATE: 'allow',
    LG_WEBHOOK_SECRET: 'secret-of-the-deployment',
  });
  const agent = connectAgentServer({ url: process.url, userAgent: 'landfall-tests' });
  begun.push(process);
  clients.push(agent);
  return { ...process, agent };
}

const run = (path: string, more: object = {}) => ({
  assistant_id: 'hook',
  input: { word: 'hi', ...more },
  webhook: receiver.at(path),
});
const came = (path: string, count = 1) =>
  until(async () => (receiver.to(path).length >= count ? receiver.to(path) : undefined));
const bodyOf = (request: { body: string } | undefined) => Object(JSON.parse(request?.body ?? ''));

test('kill -9 between the end of a run and its delivery, or in the middle of the run, loses no webhook', async () => {
  const killed = await start();
  const { thread_id } = await killed.agent.createThread({});
  for (const path of ['/refusing', '/refusing-stateless']) receiver.answer(path, 503);
  await killed.agent.waitRun(run('/refusing'), thread_id);
  // Its row is gone by now: what its webhook tells lies in the queue.
  await killed.agent.waitRun(run('/refusing-stateless'), undefined);
  const background = await killed.agent.createRun(run('/taken-up', { sleep_ms: 1500 }), thread_id);
  const other = await killed.agent.createThread({});
  const waited = killed.agent.waitRun(run('/cut-off', { sleep_ms: 60_000 }), other.thread_id).catch(() => 'lost');
  await Promise.all([came('/refusing'), came('/refusing-stateless')]);
  await until(async () => ((await killed.agent.getThread(other.thread_id)).status === 'busy' ? true : undefined));
  killed.child.kill('SIGKILL');
  expect(await killed.gone).toBe('SIGKILL');
  expect(await waited).toBe('lost');

  for (const path of ['/refusing', '/refusing-stateless']) receiver.answer(path, 200);
  const before = receiver.received.length;
  const { output, log } = await start();
  const after = (path: string) => receiver.received.slice(before).filter(({ url }) => url === path);
  await until(async () =>
    after('/refusing').length > 0 && after('/refusing-stateless').length > 0 ? true : undefined,
  );
  expect(bodyOf(after('/refusing')[0])).toMatchObject({ status: 'success', values: { said: 'said hi' } });
  expect(bodyOf(after('/refusing-stateless')[0])).toMatchObject({ status: 'success', error: null });
  // The background run goes on and tells its end; the one whose caller is lost tells that it was cut off.
  expect(bodyOf((await came('/taken-up'))[0])).toMatchObject({ run_id: background.run_id, status: 'success' });
  expect(bodyOf((await came('/cut-off'))[0])).toMatchObject({ status: 'interrupted', error: null });
  for (const path of ['/taken-up', '/cut-off']) expect(receiver.to(path)).toHaveLength(1);
  for (const path of ['/refusing', '/refusing-stateless']) expect(after(path)).toHaveLength(1);
  expect(receiver.received.every(({ headers }) => headers['x-secret'] === 'secret-of-the-deployment')).toBe(true);
  expect([...killed.output, ...output, ...log].join('\n')).not.toContain('secret-of-the-deployment');
});

test('a process that leaves delivers what has just ended', async () => {
  const leaving = await start();
  await leaving.agent.waitRun(run('/leaving'), undefined);
  leaving.child.kill('SIGTERM');
  expect(await leaving.gone).toBe(0);
  expect(receiver.to('/leaving')).toHaveLength(1);
});
