import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { runs } from '../services/control/compute/agents.ts';
import { placeGate, type Gate } from './gate.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
let gate: Gate;
/** The address of the agent, the same for all tests. */
let address = '';
/** Every process of an agent or a build so far. */
const met: number[] = [];

beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker');
  const { outputs } = await fixture.step(repository);
  address = outputs['deployment-url'] ?? '';
  gate = await placeGate(repository);
});
afterAll(async () => {
  await fixture?.close();
  await gate?.remove();
});

async function ask(): Promise<{ said: string; pid: number }> {
  const answer = await fixture.ask(address, 'hello');
  if (!met.includes(answer.pid)) met.push(answer.pid);
  return answer;
}

/** Commits another word and starts a step that deploys it, held at the gate. */
async function deployWord(former: string, word: string, given: Parameters<JourneyFixture['step']>[1] = {}) {
  await repository.edit('graph.ts', `'${former}'`, `'${word}'`);
  await repository.commit(`Say ${word}`);
  const step: Promise<StepResult> = fixture.step(repository, { inputs: { 'build-command': gate.command }, ...given });
  const building = await gate.reached();
  met.push(building);
  return { step, building };
}

test('resumes the build after the service is killed, and so does the waiting step', async () => {
  const former = await ask();
  const { step, building } = await deployWord('first', 'second');
  await fixture.kill();
  await expect.poll(() => [runs(building), runs(former.pid)]).toEqual([false, false]);

  gate.close();
  await fixture.startAgain();
  await expect.poll(() => ask().catch(() => undefined)).toMatchObject({ said: 'first hello' });
  expect((await ask()).pid).not.toBe(former.pid);

  expect(await gate.reached()).not.toBe(building);
  gate.open();
  const { exitCode, outputs, log } = await step;
  expect({ exitCode, outputs }).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', changed: 'true' } });
  expect(log).toContain('Restarted: the service was stopped in the middle of it');
  const revisions = await fixture.revisions(outputs['deployment-id']);
  expect(revisions.map(({ id, status }) => [id, status])).toEqual([
    [outputs['revision-id'], 'DEPLOYED'],
    [expect.any(String), 'DEPLOYED'],
  ]);
  expect(await ask()).toMatchObject({ said: 'second hello' });
});

test('a cancelled step exits within two seconds, and its revision continues', async () => {
  gate.close();
  const cancel = new AbortController();
  const { step } = await deployWord('second', 'third', { cancel: cancel.signal });
  const at = performance.now();
  cancel.abort();
  const { exitCode, outputs, log, summary } = await step;
  expect(performance.now() - at).toBeLessThan(2_000);
  expect({ exitCode, outputs }).toMatchObject({ exitCode: 1, outputs: { outcome: 'interrupted', changed: 'true' } });
  const [newest] = await fixture.revisions(outputs['deployment-id']);
  expect(outputs['revision-id']).toBe(newest?.id);
  expect(log).toContain(newest?.id);
  expect(summary).toContain('interrupted');

  gate.open();
  const status = async () => (await fixture.revisions(outputs['deployment-id']))[0]?.status;
  await expect.poll(status).toBe('DEPLOYED');
  expect(await ask()).toMatchObject({ said: 'third hello' });
  const again = await fixture.step(repository, { inputs: { 'build-command': gate.command } });
  expect(again).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged' } });
});

test('stopping the service ends all of its processes', async () => {
  await fixture.service.stop();
  expect(met.length).toBeGreaterThanOrEqual(5);
  expect(met.filter(runs)).toEqual([]);
});
