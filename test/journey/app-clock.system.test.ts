// The App on a machine whose clock jumps by a day, back and forward, while a revision is built.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/kit/clock.ts';
import { openProject } from './app-project.ts';
import { openAppFixture, type AppFixture } from './app-fixture.ts';

const day = 86_400_000;
let fixture: AppFixture;
let ahead = 0;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['jumps'], isDown: true });
  await fixture.start({ ...systemClock, now: () => systemClock.now() + ahead });
});
afterAll(() => fixture?.close());

test('builds and proves pushes while the clock goes a day back, and then a day ahead', async () => {
  const project = await openProject(fixture, 'jumps');
  for (const jump of [-day, day]) {
    const letGo = fixture.service.hold(project.deploymentId);
    const commit = await project.push(`While the clock goes to ${jump}`);
    await project.building();
    ahead = jump;
    letGo();
    await project.concluded(commit, 'success', /Live and proven/);
    expect(await project.liveCommit()).toBe(commit);
  }
  expect(await project.revisions()).toHaveLength(2);
});
