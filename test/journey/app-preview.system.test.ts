// Previews by the App: a pull request from its opening to its close, with kills in between.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { connectAgentServer } from '../../src/client/agent.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { AppProcess } from '../../src/demo/processes.ts';
import { closeBeside, openAppFixture, people, startAppBeside, type AppFixture } from './app-fixture.ts';
import { openProject, type Project } from './app-project.ts';

let fixture: AppFixture;
let app: AppProcess;
let settings: Record<string, string>;

const start = async (): Promise<void> => {
  app = await startAppBeside(fixture, settings);
};

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['previewed'], isDown: true });
  settings = { LANDFALL_PREVIEW_SECRETS: join(fixture.demo.folder, 'preview-secrets.json') };
  const secrets = { 'previewed/agents': { MODEL_KEY: 'key-of-previews' } };
  await writeFile(settings['LANDFALL_PREVIEW_SECRETS'] ?? '', JSON.stringify(secrets));
  await start();
});
afterAll(async () => {
  await app?.stop();
  if (fixture) await closeBeside(fixture);
});

const secretsOf = ({ secrets }: Deployment) => secrets?.map(({ name, value }) => [name, value]);

/** The deployments of the service beside the project's own. */
async function previews({ deploymentId }: Project): Promise<Deployment[]> {
  const all = await allEntriesOf((page) => fixture.service.control.listDeployments(page));
  return all.filter(({ id }) => id !== deploymentId);
}

async function commentOf({ fullName }: Project, number: number): Promise<string> {
  const headers = { authorization: `token ${fixture.github.tokenOf(people.admin)}` };
  const response = await fetch(`${fixture.github.url}/repos/${fullName}/issues/${number}/comments`, { headers });
  const [comment, ...more] = z.array(z.object({ body: z.string() })).parse(await response.json());
  expect(more).toEqual([]);
  return comment?.body ?? '';
}

async function said({ url }: Deployment): Promise<unknown> {
  const { apiKey } = fixture.service;
  const agent = connectAgentServer({ url: url ?? '', apiKey, userAgent: 'journey' });
  try {
    return await agent.waitRun({ assistant_id: 'talk', input: { input: 'Ada' } }, undefined);
  } finally {
    await agent.close();
  }
}

test('follows a pull request from its opening to its close, whenever it is killed', async () => {
  const preview = { secrets: ['MODEL_KEY'] };
  const project = await openProject(fixture, 'previewed', { file: { preview } });
  const { clone, fullName } = project;
  const pushed = async (message: string): Promise<string> => {
    const commit = await clone.commit(message, { 'notes.txt': `${message}\n` });
    await clone.git('push', '--quiet', 'origin', 'HEAD:next');
    return commit;
  };
  const production = await project.liveCommit();

  // Killed when its deployment was created, and nothing of that is known but what the service has.
  await clone.git('checkout', '--quiet', '-b', 'next');
  const first = await pushed('Faster');
  const pull = { title: 'Faster', head: 'next', base: 'main', by: people.writer };
  const number = await fixture.github.openPullRequest(fullName, pull);
  const name = `Landfall preview: ${project.name} (#${number})`;
  await fixture.until('the preview to be created', async () => (await previews(project)).length > 0);
  await app.kill();
  await start();
  await project.concluded(first, 'success', /./, name);
  const [made] = await previews(project);
  if (!made) throw new Error('there is no preview');
  expect(secretsOf(made)).toEqual([
    ['MODEL_KEY', 'key-of-previews'],
    ['LANDFALL_PREVIEW', expect.stringMatching(new RegExp(`^\\d+/${number}/${project.name}$`))],
  ]);
  expect(await said(made)).toMatchObject({ values: { said: 'hello Ada' } });
  await fixture.untilSeen(fullName, 'the comment', async () =>
    (await commentOf(project, number)).includes('**deployed**'),
  );

  // A push while the App is dead is an update of the same deployment.
  await app.kill();
  const second = await pushed('Faster still');
  await fixture.github.settled();
  await start();
  await project.concluded(second, 'success', /./, name);
  expect((await previews(project)).map(({ id }) => id)).toEqual([made.id]);
  expect(project.deploymentsOf(first).map(({ statuses }) => statuses.at(-1)?.['state'])).toEqual(['inactive']);
  await project.deployed(second, 'success');

  // Closed while it is dead: nothing is left, and production was never touched.
  await app.kill();
  await fixture.github.changePullRequest(fullName, number, 'closed');
  await fixture.github.settled();
  await start();
  await fixture.until('the preview to be gone', async () => (await previews(project)).length === 0);
  await project.deployed(second, 'inactive');
  await fixture.untilSeen(fullName, 'the end in the comment', async () =>
    (await commentOf(project, number)).includes('Removed: the pull request is closed'),
  );
  expect(await project.liveCommit()).toBe(production);
  expect(await project.revisions()).toEqual([]);
}, 600_000);
