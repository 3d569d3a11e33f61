import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
let live = '';
beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('measured');
  const { outputs } = await deploy('', { against: 'live' });
  live = outputs['active-revision-id'] ?? '';
});
afterAll(() => fixture?.close());

/** Deploys the agent with something planted: its environment makes the revision, nothing is built again. */
const deploy = (planted: string, more: object, inputs: Record<string, string> = {}): Promise<StepResult> =>
  fixture.step(repository, {
    inputs: {
      'smoke-tests': JSON.stringify([
        {
          name: 'knows the refund policy',
          assistant: 'talk',
          input: { input: 'How long do I have for a refund?' },
          expect: { values: [{ path: '$.said', equals: '30 days' }] },
          ...more,
        },
      ]),
      secrets: 'PLANTED',
      rebuild: 'never',
      ...inputs,
    },
    env: { PLANTED: planted === '' ? 'nothing' : planted },
  });

test.each([
  ['a slower one', 'slow', ['pass-rate', 'total'], 'total time: no worse than live'],
  ['one that takes twice the tokens', 'costly', ['pass-rate', 'tokens'], 'tokens: no worse than live'],
  [
    'one that visits another node in a third of its answers',
    'path',
    ['nodes'],
    'nodes visited: as of the live revision',
  ],
])('%s is discarded before traffic', async (_, planted, decideBy, expected) => {
  const { exitCode, outputs } = await deploy(planted, { against: 'live', tries: 60, 'decide-by': decideBy });
  expect({ exitCode, outputs }).toMatchObject({
    exitCode: 1,
    outputs: { outcome: 'discarded', 'smoke-verdict': 'failed', 'active-revision-id': live },
  });
  expect(outputs['reason']).toContain(expected);
});

test('where none is held, a deploy measures the live one, and the next one takes what is kept of it', async () => {
  const afterwards = { verify: 'after-traffic', rebuild: 'always' };
  const measured = await deploy('', { 'pass-rate': 'baseline', tries: 30 }, afterwards);
  expect(measured.outputs).toMatchObject({ outcome: 'deployed', 'smoke-verdict': 'passed' });
  expect(measured.log).toContain('to the live revision');
  const kept = await deploy('', { 'pass-rate': 'baseline', tries: 30 }, afterwards);
  expect(kept.outputs).toMatchObject({ outcome: 'deployed', 'smoke-verdict': 'passed' });
  expect(kept.log).toContain(`answers of the live revision ${measured.outputs['revision-id']} that were kept`);
  expect(kept.log).not.toContain('to the live revision');
});
