import { loggerTo } from '../../../logger.ts';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { Rollouts } from '../../../../src/services/control/rollouts/rollouts.ts';
import { fakeAgent, runs } from '../compute/agents.ts';
import {
  answering,
  requestAgent,
  change,
  closeAll,
  deploy,
  forget,
  gate,
  goesLive,
  history,
  logOf,
} from './running-service.ts';
import { openMachine, startService, reaches, until } from './running-service.ts';
import { endWithTest } from '../../../child-process.ts';

afterEach(closeAll);

test('restarts an agent that broke down, and logs it', async () => {
  const instance = await startService(await openMachine());
  const requested = await deploy(instance);
  await goesLive(instance, requested);
  await requestAgent(requested.url, '/crash');
  await until(async () => (await logOf(instance, requested.revisionId, 'deploy')).at(-1) === 'The agent serves.');
  expect(await answering(requested.url)).toBe(requested.revisionId);
  expect(await logOf(instance, requested.revisionId, 'deploy')).toContain(
    "error: The agent's process ended: exit code 7. Restarting it in 0.5 s.",
  );
});

test('after a restart the live revision serves, and an interrupted build restarts', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const before = await startService(machine);
  const live = await deploy(before);
  await goesLive(before, live);
  const building = await deploy(before, { config: { build_command: slow.command } });
  await until(slow.waits);
  await before.close();
  expect(existsSync(join(machine.dataDir, 'builds', building.revisionId))).toBe(false);

  forget(join(machine.root, 'slow-waits'));
  writeFileSync(slow.open, '');
  const after = await startService(machine);
  const url = (await after.control.getDeployment(live.id)).url ?? '';
  await until(async () => (await answering(url)) === live.revisionId);
  await goesLive(after, building);
  expect(await history(after, building.revisionId)).toEqual([
    'CREATING',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ]);
});

test('retries a live revision that cannot be served at the start', async () => {
  const machine = await openMachine();
  const before = await startService(machine);
  const requested = await deploy(before);
  await goesLive(before, requested);
  await before.close();
  rmSync(join(machine.dataDir, 'builds'), { recursive: true });
  renameSync(machine.repo, `${machine.repo}-away`);

  const instance = await startService(machine, { pollMs: 50 });
  const url = (await instance.control.getDeployment(requested.id)).url ?? '';
  const cause = `error: There is no folder ${machine.repo} on this machine. Check source_config.repo_url.`;
  await until(async () => (await logOf(instance, requested.revisionId, 'deploy')).includes(cause));
  expect(await answering(url)).toBe('503');
  renameSync(`${machine.repo}-away`, machine.repo);
  await until(async () => (await answering(url)) === requested.revisionId);
  expect((await instance.control.getRevision(requested.id, requested.revisionId)).status).toBe('DEPLOYED');
});

test('requests during the recovery are carried out after it, and once', async () => {
  const machine = await openMachine();
  const instance = await startService(machine);
  let clearedUp = (): void => {};
  const clearing = new Promise<void>((resolve) => (clearedUp = resolve));
  const rollouts = new Rollouts({
    store: { ...instance.store, usedBuilds: () => clearing.then(() => instance.store.usedBuilds()) },
    dataDir: machine.dataDir,
    adminDatabaseUrl: machine.databaseUrl,
    allowGit: machine.allowGit,
    gateway: instance.gateway,
    compute: processCompute({ clock: systemClock, agentServer: fakeAgent }),
    clock: systemClock,
    log: loggerTo((message) => instance.logged.push(message)),
  });
  const requested = await instance.store.createDeployment(machine.tenantId, {
    name: 'early',
    source: 'github',
    source_config: { repo_url: machine.repo },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
    secret_references: null,
  });
  if (requested.kind !== 'created') throw new Error(requested.kind);
  const { deployment, latest } = requested;
  const recovering = rollouts.recover();
  rollouts.wake(deployment.id);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await history(instance, latest.id)).toEqual(['CREATING']);
  clearedUp();
  await recovering;
  await reaches(instance, deployment.id, latest.id, ['DEPLOYED']);
  expect(await history(instance, latest.id)).toEqual([
    'CREATING',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ]);
  await rollouts.stop(4_000);
});

const started = z.object({ live: z.string(), building: z.string(), waiting: z.string(), agent: z.number() });

test('after a kill -9 during a build nothing is left over, and all work resumes', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const script = join(import.meta.dirname, 'killed-service.ts');
  const service = endWithTest(spawn(process.execPath, [script, JSON.stringify(machine)]));
  const [first = ''] = await Array.fromAsync(take(createInterface(service.stdout), 1));
  const { live, building, waiting, agent } = started.parse(JSON.parse(first));
  await until(slow.waits);
  const builder = Number(readFileSync(join(machine.root, 'slow-waits'), 'utf8'));
  expect([agent, builder].map(runs)).toEqual([true, true]);
  service.kill('SIGKILL');
  await until(() => ![agent, builder].some(runs));

  const stale = join(machine.dataDir, 'builds/3f0a4c1e-6a55-4c39-8c0e-0d6c8a1f2b11');
  mkdirSync(stale, { recursive: true });
  writeFileSync(join(machine.dataDir, 'builds', building, 'source/left.txt'), 'from the attempt before');
  forget(join(machine.root, 'slow-waits'));
  writeFileSync(slow.open, '');

  const instance = await startService(machine);
  const [deployment] = (await instance.control.listDeployments({ name: 'killed' })).resources;
  if (!deployment) throw new Error('the deployment is gone');
  expect(deployment.active_revision_id).toBe(live);
  await until(async () => [live, waiting].includes(await answering(deployment.url ?? '')));
  await reaches(instance, deployment.id, building, ['DEPLOYED']);
  await reaches(instance, deployment.id, waiting, ['DEPLOYED']);
  expect(await answering(deployment.url ?? '')).toBe(waiting);
  expect(existsSync(stale)).toBe(false);
  expect(existsSync(join(machine.dataDir, 'builds', building, 'source/left.txt'))).toBe(false);
});

async function* take<T>(values: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const value of values) {
    yield value;
    left -= 1;
    if (left === 0) return;
  }
}
