// The App as a process of its own on its own database, killed in the middle of its work as a power cut would.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeEmbeddedData } from '../../src/database/remove-embedded.ts';
import { startAppProcess, type AppProcess } from '../../src/demo/app-process.ts';
import { aJourney, openAppWorld, type AppWorld } from './app-world.ts';
import { openProject } from './app-project.ts';
import { root } from './world.ts';

let world: AppWorld;
let app: AppProcess;

/** Starts it on what the one before it left. */
const start = (): Promise<AppProcess> =>
  startAppProcess({
    root,
    github: world.github,
    service: world.service,
    data: join(world.demo.folder, 'app'),
    port: Number(new URL(world.webhookUrl).port),
  });

beforeAll(async () => {
  world = await openAppWorld({ owners: ['killed'], isDown: true });
  app = await start();
});
afterAll(async () => {
  await app?.stop();
  await removeEmbeddedData({ dataDir: join(world.demo.folder, 'app', 'postgres'), log: () => undefined });
  await world?.close();
});

test('killed while a revision is built, it goes on, and finds what was pushed meanwhile', aJourney, async () => {
  const project = await openProject(world, 'killed');
  const letGo = world.service.hold(project.deploymentId);
  const first = await project.push('Before the end');
  await project.building();
  await app.kill();
  letGo();
  const second = await project.push('While it is dead');
  await world.github.settled();
  app = await start();
  await project.concluded(first, 'success');
  await project.concluded(second, 'success', /Live and proven/);
  expect(await project.liveCommit()).toBe(second);
  expect(await project.revisions()).toHaveLength(2);
  expect((await world.github.checkRuns(project.fullName, second)).map(({ name }) => name)).toEqual([
    `Landfall: ${project.name}`,
  ]);
});
