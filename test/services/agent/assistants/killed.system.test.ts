import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAgentProcess } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';
import { askAt } from '../ask.ts';
import { sharedDatabase } from '../runs/two-servers.ts';
import type { Servers } from '../runs/two-servers.ts';
import { agentConfig } from '../serving.ts';
import { assistantOf, made, says, versionsOf } from './fixture.ts';

/** The process to kill; the other ones of its deployment run in the test process, where they start at once. */
let killed: AgentProcess;
let servers: Servers;
beforeAll(async () => {
  servers = await sharedDatabase();
  killed = await startAgentProcess({ LANDFALL_GRAPH_CONFIG: agentConfig, DATABASE_URI: servers.databaseUrl });
});
afterAll(async () => {
  killed.child.kill('SIGKILL');
  await killed.gone;
  await servers.close();
});

test('concurrent versions have no gaps, and acknowledged ones survive a kill', async () => {
  const other = await servers.start();
  const [toKilled, toOther] = [askAt(killed.url), askAt(other.url)];
  const { assistant_id } = await made(toOther, { context: { greeting: 'v1' } });
  const acknowledged: { version: unknown; mark: unknown }[] = [{ version: 1, mark: undefined }];
  const change = async (ask: typeof toOther, mark: string) => {
    const context = { greeting: mark };
    const patched = await assistantOf(ask('PATCH', `/assistants/${assistant_id}`, { context, metadata: { mark } }));
    acknowledged.push({ version: patched.version, mark });
  };
  const changes = Array.from({ length: 40 }, (_, n) => change(n % 2 === 0 ? toKilled : toOther, `m${n}`));
  await Promise.race(changes);
  killed.child.kill('SIGKILL');
  await killed.gone;
  await Promise.allSettled(changes);

  const versions = await versionsOf(toOther, assistant_id, { limit: 1000 });
  expect(versions.map(({ version }) => version)).toEqual(versions.map((_, n) => versions.length - n));
  // All twenty of the surviving process, and the first version.
  expect(acknowledged.length).toBeGreaterThan(20);
  const kept = versions.map(({ version, metadata }) => ({ version, mark: metadata?.['mark'] }));
  expect(kept).toEqual(expect.arrayContaining(acknowledged));
  const active = await assistantOf(toOther('GET', `/assistants/${assistant_id}`));
  expect(active.version).toBe(versions.length);

  const next = askAt((await servers.start()).url);
  expect(await assistantOf(next('GET', `/assistants/${assistant_id}`))).toEqual(active);
  await assistantOf(next('POST', `/assistants/${assistant_id}/latest`, { version: 1 }));
  expect(await says(toOther, assistant_id)).toBe('v1 Ada');
});
