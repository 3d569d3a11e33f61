import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('talker');
});
afterAll(() => fixture?.close());

/** A step with these secrets; a workflow takes their values from the environment. */
const give = (secrets: string, env: Record<string, string>, inputs: Record<string, string> = {}): Promise<StepResult> =>
  fixture.step(repository, { inputs: { secrets, ...inputs }, env });

const namesHeld = async ({ outputs }: StepResult): Promise<string[]> =>
  (await fixture.control.getDeployment(outputs['deployment-id'] ?? '')).secrets?.map(({ name }) => name).toSorted() ??
  [];

test('a secret that a step brings is in the environment of the agent', async () => {
  const step = await give('MOOD', { MOOD: 'calm as a lake' });
  expect(step.outputs['outcome']).toBe('deployed');
  expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ mood: 'calm as a lake' });
});

test('a new value makes one revision, and the agent has it', async () => {
  const step = await give('MOOD', { MOOD: 'rough as a sea' });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch' } });
  expect(step.log).toContain('secrets.MOOD: set again');
  expect(await fixture.revisions(step.outputs['deployment-id'])).toHaveLength(2);
  expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ mood: 'rough as a sea' });
});

test('the same value is not sent', async () => {
  const step = await give('MOOD', { MOOD: 'rough as a sea' });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'unchanged', plan: 'none', changed: 'false' } });
  expect(await fixture.revisions(step.outputs['deployment-id'])).toHaveLength(2);
});

test('merge keeps what the step does not name', async () => {
  const step = await give('TOKEN=OTHER_NAME', { OTHER_NAME: 'another token' });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch' } });
  expect(await fixture.revisions(step.outputs['deployment-id'])).toHaveLength(3);
  expect(await namesHeld(step)).toEqual(['MOOD', 'TOKEN']);
  expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ mood: 'rough as a sea' });
});

test('overwrite takes it away', async () => {
  const env = { OTHER_NAME: 'another token' };
  const step = await give('TOKEN=OTHER_NAME', env, { 'secrets-strategy': 'overwrite' });
  expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', plan: 'patch' } });
  expect(await fixture.revisions(step.outputs['deployment-id'])).toHaveLength(4);
  expect(await namesHeld(step)).toEqual(['TOKEN']);
  expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ mood: 'none' });
});

test('a secret that the workflow does not have is refused before anything is sent', async () => {
  const step = await give('MOOD\nTOKEN=OTHER_NAME', { OTHER_NAME: '' });
  expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused', changed: 'false' } });
  expect(step.log).toContain('MOOD, which is not set');
  expect(step.log).toContain('OTHER_NAME, which is empty');
});
