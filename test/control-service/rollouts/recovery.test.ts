import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../src/clock.ts';
import { processCompute } from '../../../src/control-service/compute/process-compute.ts';
import { startRollouts } from '../../../src/control-service/rollouts/rollouts.ts';
import { fakeAgent, runs } from '../compute/agents.ts';
import { answering, askAgent, change, closeAll, deploy, forget, gate, goesLive, history, logOf } from './house.ts';
import { openGround, openHouse, reaches, until } from './house.ts';

afterEach(closeAll);

test('an agent that breaks down is started again, and its log says so', async () => {
  const house = await openHouse(await openGround());
  const asked = await deploy(house);
  await goesLive(house, asked);
  await askAgent(asked.url, '/crash');
  await until(async () => (await logOf(house, asked.revisionId, 'deploy')).at(-1) === 'The agent serves.');
  expect(await answering(asked.url)).toBe(asked.revisionId);
  expect(await logOf(house, asked.revisionId, 'deploy')).toContain(
    "error: The agent's process ended: exit code 7. Starting it again in 0.5 s.",
  );
});

test('after a stop and a new start the live revision serves again, and a build that was broken off is begun again', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  change(ground, slow.script);
  const before = await openHouse(ground);
  const live = await deploy(before);
  await goesLive(before, live);
  const building = await deploy(before, { config: { build_command: slow.command } });
  await until(slow.waits);
  await before.close();
  expect(existsSync(join(ground.dataDir, 'builds', building.revisionId))).toBe(false);

  forget(join(ground.root, 'slow-waits'));
  writeFileSync(slow.open, '');
  const after = await openHouse(ground);
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

test('a live revision that can not be served at the start is tried again until it can', async () => {
  const ground = await openGround();
  const before = await openHouse(ground);
  const asked = await deploy(before);
  await goesLive(before, asked);
  await before.close();
  rmSync(join(ground.dataDir, 'builds'), { recursive: true });
  renameSync(ground.repo, `${ground.repo}-away`);

  const house = await openHouse(ground, { lookEveryMs: 50 });
  const url = (await house.control.getDeployment(asked.id)).url ?? '';
  const cause = `error: There is no folder ${ground.repo} on this machine. Check source_config.repo_url.`;
  await until(async () => (await logOf(house, asked.revisionId, 'deploy')).includes(cause));
  expect(await answering(url)).toBe('503');
  renameSync(`${ground.repo}-away`, ground.repo);
  await until(async () => (await answering(url)) === asked.revisionId);
  expect((await house.control.getRevision(asked.id, asked.revisionId)).status).toBe('DEPLOYED');
});

test('what is asked for while a start still clears up is carried out after it, and once', async () => {
  const ground = await openGround();
  const house = await openHouse(ground);
  let clearedUp = (): void => {};
  const clearing = new Promise<void>((resolve) => (clearedUp = resolve));
  const rollouts = startRollouts({
    store: { ...house.store, namedBuilds: () => clearing.then(() => house.store.namedBuilds()) },
    dataDir: ground.dataDir,
    adminDatabaseUrl: ground.databaseUrl,
    allowGit: ground.allowGit,
    gateway: house.gateway,
    compute: processCompute({ clock: systemClock, agentServer: fakeAgent }),
    clock: systemClock,
    log: (message) => house.logged.push(message),
  });
  const asked = await house.store.createDeployment(ground.tenantId, {
    name: 'early',
    source: 'github',
    source_config: { repo_url: ground.repo },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
    secret_references: null,
  });
  if (asked.kind !== 'created') throw new Error(asked.kind);
  const { deployment, latest } = asked;
  const recovering = rollouts.recover();
  rollouts.wake(deployment.id);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await history(house, latest.id)).toEqual(['CREATING']);
  clearedUp();
  await recovering;
  await reaches(house, deployment.id, latest.id, ['DEPLOYED']);
  expect(await history(house, latest.id)).toEqual([
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

test('after a kill -9 in the middle of a build nothing is left over, and a new start goes on with everything', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  change(ground, slow.script);
  const service = spawn(process.execPath, [join(import.meta.dirname, 'killed-service.ts'), JSON.stringify(ground)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [first = ''] = await Array.fromAsync(take(createInterface(service.stdout), 1));
  const { live, building, waiting, agent } = started.parse(JSON.parse(first));
  await until(slow.waits);
  const builder = Number(readFileSync(join(ground.root, 'slow-waits'), 'utf8'));
  expect([agent, builder].map(runs)).toEqual([true, true]);
  service.kill('SIGKILL');
  await until(() => ![agent, builder].some(runs));

  const stale = join(ground.dataDir, 'builds/3f0a4c1e-6a55-4c39-8c0e-0d6c8a1f2b11');
  mkdirSync(stale, { recursive: true });
  writeFileSync(join(ground.dataDir, 'builds', building, 'source/left.txt'), 'from the attempt before');
  forget(join(ground.root, 'slow-waits'));
  writeFileSync(slow.open, '');

  const house = await openHouse(ground);
  const [deployment] = (await house.control.listDeployments({ name: 'killed' })).resources;
  if (!deployment) throw new Error('the deployment is gone');
  expect(deployment.active_revision_id).toBe(live);
  await until(async () => [live, waiting].includes(await answering(deployment.url ?? '')));
  await reaches(house, deployment.id, building, ['DEPLOYED']);
  await reaches(house, deployment.id, waiting, ['DEPLOYED']);
  expect(await answering(deployment.url ?? '')).toBe(waiting);
  expect(existsSync(stale)).toBe(false);
  expect(existsSync(join(ground.dataDir, 'builds', building, 'source/left.txt'))).toBe(false);
});

async function* take<T>(values: AsyncIterable<T>, count: number): AsyncGenerator<T> {
  let left = count;
  for await (const value of values) {
    yield value;
    left -= 1;
    if (left === 0) return;
  }
}
