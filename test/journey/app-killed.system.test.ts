import { silentLogger } from '../../src/logger.ts';
// The App as a process of its own on its own database, killed in the middle of its work as a power cut would.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeEmbeddedData } from '../../src/postgres/embedded.ts';
import { startAppProcess, type AppProcess } from '../../src/demo/processes.ts';
import { openAppFixture, type AppFixture } from './app-fixture.ts';
import { openProject } from './app-project.ts';
import { root } from './fixture.ts';

let fixture: AppFixture;
let app: AppProcess;

/** Starts it on what the one before it left. */
const start = (): Promise<AppProcess> =>
  startAppProcess({
    root,
    github: fixture.github,
    service: fixture.service,
    data: join(fixture.demo.folder, 'app'),
    port: Number(new URL(fixture.webhookUrl).port),
  });

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['killed'], isDown: true });
  app = await start();
});
afterAll(async () => {
  await app?.stop();
  await removeEmbeddedData({ dataDir: join(fixture.demo.folder, 'app', 'postgres'), log: silentLogger });
  await fixture?.close();
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
  app = await start();
  await project.concluded(first, 'success');
  await project.concluded(second, 'success', /Live and proven/);
  expect(await project.liveCommit()).toBe(second);
  expect(await project.revisions()).toHaveLength(2);
  expect((await fixture.github.checkRuns(project.fullName, second)).map(({ name }) => name)).toEqual([
    `Landfall: ${project.name}`,
  ]);
});
