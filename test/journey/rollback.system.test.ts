import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
/** The deployment after the first step. */
let id = '';
let address = '';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker');
});
afterAll(() => fixture?.close());

/** The answer that the one smoke test expects. */
const expecting = (said: string): Record<string, string> => ({
  'smoke-tests': JSON.stringify([
    {
      name: 'repeats its input',
      assistant: 'talk',
      input: { input: 'Ada' },
      expect: { values: [{ path: '$.said', equals: said }] },
      attempts: 1,
    },
  ]),
});

const run = (inputs: Record<string, string>): Promise<StepResult> => fixture.step(repository, { inputs });

async function deployWord(former: string, word: string, inputs: Record<string, string>): Promise<StepResult> {
  await repository.edit('graph.ts', `'${former}'`, `'${word}'`);
  await repository.commit(`Say ${word}`);
  return run({ ...expecting(`${word} Ada`), ...inputs });
}

/** The deployment as a caller sees it: number of revisions, which one serves, its answer. */
async function seen(): Promise<{ revisions: number; active: string | null; said: string }> {
  const [revisions, { active_revision_id: active }, { said }] = await Promise.all([
    fixture.revisions(id),
    fixture.control.getDeployment(id),
    fixture.ask(address, 'you'),
  ]);
  return { revisions: revisions.length, active, said };
}

/** An address of this machine without a listener. */
async function nowhere(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const found = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (found === null || typeof found === 'string') throw new Error('There is no free port.');
  return `http://127.0.0.1:${found.port}`;
}

test('after two deploys, mode: rollback restores the first one and tests it', async () => {
  const first = await run(expecting('first Ada'));
  expect(first).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', 'smoke-verdict': 'passed' } });
  id = first.outputs['deployment-id'] ?? '';
  address = first.outputs['deployment-url'] ?? '';
  const second = await deployWord('first', 'second', {});
  expect(second).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', 'smoke-verdict': 'passed' } });

  const back = await run({ mode: 'rollback', ...expecting('first Ada') });
  expect(back).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'rolled-back', changed: 'true', 'rolled-back-to': first.outputs['revision-id'] },
  });
  expect(await seen()).toEqual({ revisions: 3, active: back.outputs['active-revision-id'], said: 'first you' });
});

test('deploys a rolled-back commit again on request', async () => {
  const step = await run(expecting('second Ada'));
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', 'smoke-verdict': 'passed' } });
  expect(await seen()).toEqual({ revisions: 4, active: step.outputs['revision-id'], said: 'second you' });
});

test.each([
  ['right, which changes nothing', 'second Ada', 0, 'unchanged', 'passed'],
  ['wrong, which is broken', 'first Ada', 1, 'broken', 'failed'],
])('mode: smoke tests the live revision, which answers %s', async (_, said, exitCode, outcome, verdict) => {
  const before = await seen();
  const step = await run({ mode: 'smoke', ...expecting(said) });
  expect(step).toMatchObject({ exitCode, outputs: { outcome, 'smoke-verdict': verdict, changed: 'false' } });
  expect(await seen()).toEqual(before);
});

test('mode: smoke on an unreachable agent proves nothing', async () => {
  const step = await run({ mode: 'smoke', 'agent-url': await nowhere(), ...expecting('second Ada') });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'unproven', 'smoke-verdict': 'unproven' } });
  expect(step.outputs['reason']).toContain('repeats its input');
});

test('an unreachable live revision is unproven, and is not rolled back', async () => {
  const unreachableAgent = { 'agent-url': await nowhere(), verify: 'after-traffic' };
  const step = await deployWord('second', 'third', { 'on-failure': 'rollback', ...unreachableAgent });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'unproven', 'rolled-back-to': '' } });
  expect(await seen()).toEqual({ revisions: 5, active: step.outputs['revision-id'], said: 'third you' });
});

test('on-failure: keep leaves a revision with wrong answers, reported as broken', async () => {
  const afterTraffic = { 'on-failure': 'keep', verify: 'after-traffic' };
  const step = await deployWord('third', 'fourth', { ...afterTraffic, ...expecting('third Ada') });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'broken', 'rolled-back-to': '' } });
  expect(step.outputs['reason']).toContain('fourth Ada');
  expect(await seen()).toEqual({ revisions: 6, active: step.outputs['revision-id'], said: 'fourth you' });
});
