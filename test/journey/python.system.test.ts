// A repository in Python is deployed, changed and answers: by the Action on the real service.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { describePython } from '../python/needs-python.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

describePython('an agent in Python', () => {
  let fixture: JourneyFixture;
  let repository: Repository;
  beforeAll(async () => {
    fixture = await openJourneyFixture();
    repository = await fixture.repository('python-talker');
  });
  afterAll(() => fixture?.close());

  const run = (): Promise<StepResult> =>
    fixture.step(repository, { inputs: { 'install-command': '', 'timeout-minutes': '8' } });

  test('is deployed, and answers', async () => {
    const step = await run();
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed' } });
    expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ said: 'first you' });
  });

  test('answers as the next commit says, which installs nothing', async () => {
    const file = join(repository.folder, 'talker/words.py');
    await writeFile(file, (await readFile(file, 'utf8')).replace('first', 'second'));
    await repository.commit('Say something else');
    const step = await run();
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed' } });
    expect(await fixture.ask(step.outputs['deployment-url'], 'you')).toMatchObject({ said: 'second you' });
  });
});
