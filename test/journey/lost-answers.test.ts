import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { startCuttingProxy, type CuttingProxy, type Fate } from './cutting-proxy.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let repository: Repository;
/** On the way to the service the answers to some requests are lost. */
let lossy: CuttingProxy;
let lost = /^POST \/v2\/deployments$/;
/** On this way the answer to a change is lost, and from then on nothing comes through. */
let dark: CuttingProxy;
/** It takes minutes until a change is given up, so that step begins first and is looked at last. */
let givenUp: Promise<StepResult>;

beforeAll(async () => {
  world = await openWorld();
  repository = await world.repository('talker');
  const { url } = world.service;
  lossy = await startCuttingProxy(url, (request) => (lost.test(request) ? 'answer lost' : 'passes'));
  let isDark = false;
  dark = await startCuttingProxy(url, (request): Fate => {
    if (isDark) return 'never arrives';
    isDark = request.startsWith('PATCH ');
    return isDark ? 'answer lost' : 'passes';
  });
  const unlucky = await world.repository('talker', 'unlucky');
  givenUp = (async () => {
    await world.step(unlucky);
    return world.step(unlucky, { baseUrl: dark.url, inputs: { rebuild: 'always' } });
  })();
});
afterAll(async () => {
  await lossy?.close();
  await dark?.close();
  await world?.close();
});

const countOf = (proxy: CuttingProxy, method: string): number =>
  proxy.requests.filter((request) => request.startsWith(`${method} /v2/deployments`)).length;

test('a creation whose answer is lost is looked for by its name, and followed', { timeout: 60_000 }, async () => {
  const step = await world.step(repository, { baseUrl: lossy.url });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'create', changed: 'true' } });
  expect(countOf(lossy, 'POST')).toBe(1);
  const revisions = await world.revisions(step.outputs['deployment-id']);
  expect(revisions.map(({ id }) => id)).toEqual([step.outputs['revision-id']]);
});

test('a change whose answer is lost is looked for by its revision, and followed', { timeout: 60_000 }, async () => {
  await repository.edit('graph.ts', "'first'", "'second'");
  const commit = await repository.commit('Say something else');
  lost = /^PATCH /;
  const step = await world.step(repository, { baseUrl: lossy.url });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch', changed: 'true' } });
  expect(countOf(lossy, 'PATCH')).toBe(1);
  const [newest, ...older] = await world.revisions(step.outputs['deployment-id']);
  expect(older).toHaveLength(1);
  expect(newest).toMatchObject({
    id: step.outputs['revision-id'],
    status: 'DEPLOYED',
    source_revision_config: { repo_commit_sha: commit },
  });
  expect(await world.ask(step.outputs['deployment-url'], 'hello')).toMatchObject({ said: 'second hello' });
});

test('a change that nobody can look for is told as unknown, and is not sent again', { timeout: 180_000 }, async () => {
  const step = await givenUp;
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed', plan: 'patch' } });
  expect(step.outputs['reason']).toMatch(/^It cannot be told whether the change took effect: /);
  expect(step.log).toContain('the request was not sent twice');
  expect(countOf(dark, 'PATCH')).toBe(1);
  expect(await world.revisions(step.outputs['deployment-id'])).toHaveLength(2);
});
