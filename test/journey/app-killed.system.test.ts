// The App as a process of its own on its own database, killed in the middle of its work as a power cut would.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AppProcess } from '../../src/demo/processes.ts';
import { closeBeside, openAppFixture, startAppBeside, type AppFixture } from './app-fixture.ts';
import { openProject } from './app-project.ts';

let fixture: AppFixture;
let app: AppProcess;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['killed'], isDown: true });
  app = await startAppBeside(fixture);
});
afterAll(async () => {
  await app?.stop();
  if (fixture) await closeBeside(fixture);
});

test('resumes a build after a kill, and finds what was pushed meanwhile', async () => {
  const project = await openProject(fixture, 'killed');
  const letGo = fixture.service.hold(project.deploymentId);
  const first = await project.push('Before the end');
  await project.building();
  await app.kill();
  letGo();
  const second = await project.push('While it is dead');
  await fixture.github.settled();
  app = await startAppBeside(fixture);
  await project.concluded(first, 'success');
  await project.concluded(second, 'success', /Live and proven/);
  expect(await project.liveCommit()).toBe(second);
  expect(await project.revisions()).toHaveLength(2);
  expect((await fixture.github.checkRuns(project.fullName, second)).map(({ name }) => name)).toEqual([
    `Landfall: ${project.name}`,
  ]);
});
