// Pushes to a service that holds no revisions: the live one is measured before a change, and the new one compared with it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAppFixture, type AppFixture } from './app-fixture.ts';
import { openProject, type Project } from './app-project.ts';

let fixture: AppFixture;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['measured', 'kept'] });
});
afterAll(() => fixture?.close());

const comparing = {
  'on-failure': 'rollback',
  'smoke-tests': [
    {
      name: 'says hello',
      assistant: 'talk',
      thread: true,
      input: { input: 'Ada' },
      expect: { values: [{ path: '$.said', equals: 'hello Ada' }] },
      'pass-rate': 'baseline',
      tries: 30,
    },
  ],
};

/** The revisions whose answers are kept, those of the newest first, and how many. */
async function kept({ deploymentId }: Project): Promise<unknown[]> {
  const { rows } = await fixture.app.resources.database.pool.query(
    `select revision_id, jsonb_array_length(answers) as count from app.baselines
     where deployment_id = $1 order by taken_at desc`,
    [deploymentId],
  );
  return rows;
}

/** What is left of threads at the agent that serves. */
async function threads({ deploymentId }: Project): Promise<unknown> {
  const { url, apiKey } = fixture.service;
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const search = { method: 'POST', headers, body: '{}' };
  return (await fetch(`${url}/agents/${deploymentId}/threads/search`, search)).json();
}

const worse = /rolled back/;

test('finds a worse agent by answers that it takes of the live one before the change', async () => {
  const project = await openProject(fixture, 'measured', { file: comparing });
  const before = (await fixture.service.control.getDeployment(project.deploymentId)).active_revision_id;
  const wrong = await project.push('Answer wrongly', { 'says.txt': 'goodbye\n' });
  const words = await project.wordsOf(await project.concluded(wrong, 'failure', worse));
  expect(words).toContain('0 of 30, live 30 of 30');
  expect(words).not.toContain('that were kept');
  expect(await project.liveCommit()).toBe(project.first);
  expect([await kept(project), await threads(project)]).toEqual([[{ revision_id: before, count: 30 }], []]);
});

test('finds a worse agent by answers that were kept of the live one', async () => {
  const project = await openProject(fixture, 'kept', { file: comparing });
  const good = await project.push('Answer as well', { 'says.txt': 'hello\n', 'notes.txt': 'another\n' });
  const passed = await project.wordsOf(await project.concluded(good, 'success', /^Live and proven$/));
  expect(passed).toContain('30 of 30, live 30 of 30');
  const [revision] = await project.revisions();
  expect(await kept(project)).toMatchObject([{ revision_id: revision?.id, count: 30 }, { count: 30 }]);
  const wrong = await project.push('Answer wrongly', { 'says.txt': 'goodbye\n' });
  const failed = await project.wordsOf(await project.concluded(wrong, 'failure', worse));
  expect(failed).toContain('0 of 30, live 30 of 30');
  expect(failed).toContain(`compared with answers of the live revision <code>${revision?.id}</code> that were kept`);
  expect([await project.liveCommit(), await threads(project)]).toEqual([good, []]);
});
