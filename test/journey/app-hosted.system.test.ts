// A hosted service that builds pushes by itself: the App follows its revisions, and reports a missing one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { steadyNow, systemClock } from '../../src/kit/clock.ts';
import { openAppFixture, type AppFixture } from './app-fixture.ts';
import { openProject } from './app-project.ts';

let fixture: AppFixture;
let aheadMs = 0;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['hosted', 'absent'], builder: 'service', isDown: true });
  await fixture.start({
    ...systemClock,
    now: () => systemClock.now() + aheadMs,
    steadyNow: () => steadyNow(systemClock) + aheadMs,
  });
});
afterAll(() => fixture?.close());

test("finds, follows, tests and reports the service's revision of the pushed commit", async () => {
  const project = await openProject(fixture, 'hosted');
  const letGo = fixture.service.hold(project.deploymentId);
  const commit = await project.push('Change');
  const seen = (title: string) =>
    fixture.untilSeen(project.fullName, title, async () => (await project.check(commit))?.title.startsWith(title));
  await seen('Waits for the revision that the service makes by itself');
  expect(await project.revisions()).toEqual([]);
  await fixture.service.control.patchDeployment(project.deploymentId, { source_revision_config: { repo_ref: 'main' } });
  await project.building();
  letGo();
  const run = await project.concluded(commit, 'success', /Live and proven/);
  expect(await project.wordsOf(run)).toContain('says hello');
  expect(await project.revisions()).toHaveLength(1);
});

test('reports a missing revision and does not make it instead', async () => {
  const project = await openProject(fixture, 'absent');
  const commit = await project.push('Change');
  await fixture.untilSeen(project.fullName, 'the wait', async () =>
    (await project.check(commit))?.title.startsWith('Waits for the revision'),
  );
  aheadMs = 11 * 60_000;
  await fixture.app.context.store.wake(project.deploymentId);
  const run = await project.concluded(commit, 'failure', /The service made no revision of this commit/);
  expect(run.buttons).toEqual(['redeploy']);
  expect(await project.revisions()).toEqual([]);
  // A person can still request it from the App.
  await fixture.github.pressRerun(project.fullName, run.id);
  await project.concluded(commit, 'success', /Live and proven/);
  expect(await project.revisions()).toHaveLength(1);
});
