// Outages of the App, of GitHub and of the control service, and what the App recovers afterwards.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gitEnvironment } from '../../src/demo/github/git/commits.ts';
import { systemClock, type Clock } from '../../src/kit/clock.ts';
import { runDeployment } from '../../src/host/run-deployment.ts';
import { openAppFixture, type AppFixture } from './app-fixture.ts';
import { openProject, type Project } from './app-project.ts';

let fixture: AppFixture;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['limited', 'free', 'dark', 'beside', 'missed', 'forgotten'] });
});
afterAll(() => fixture?.close());

/** Commits as if it had been done some time ago. @returns the commit */
async function commitAgo(project: Project, message: string, minutes: number): Promise<string> {
  const at = new Date(Date.now() - minutes * 60_000).toISOString();
  await promisify(execFile)('git', ['-C', project.clone.folder, 'commit', '--quiet', '--allow-empty', '-m', message], {
    env: { ...gitEnvironment(), GIT_COMMITTER_DATE: at, GIT_AUTHOR_DATE: at },
  });
  return project.clone.git('rev-parse', 'HEAD');
}

/** The time in so many minutes. */
const clockIn = (minutes: number): Clock => ({ ...systemClock, now: () => systemClock.now() + minutes * 60_000 });

describe.concurrent('GitHub', () => {
  test('delays the rate-limited installation and serves another one', async () => {
    const [limited, free] = await Promise.all([openProject(fixture, 'limited'), openProject(fixture, 'free')]);
    const { github } = fixture;
    const installation = github.installationId('limited');
    let refused = 0;
    let isOver = false;
    github.interfere(({ caller, method }) => {
      if (isOver || caller.kind !== 'installation' || caller.installationId !== installation || method === 'GET')
        return;
      refused += 1;
      const body = {
        message: 'You have exceeded a secondary rate limit.',
        documentation_url: 'https://docs.github.com',
      };
      return { status: 403, body, headers: { 'retry-after': '4' } };
    });
    const [waits, goes] = await Promise.all([limited.push('Change'), free.push('Change')]);
    await free.concluded(goes, 'success', /Live and proven/);
    expect(await limited.check(waits)).toBeUndefined();
    // The App honours Retry-After instead of repeating the request.
    expect(refused).toBeLessThan(12);
    isOver = true;
    await limited.concluded(waits, 'success', /Live and proven/);
    await limited.deployed(waits, 'success');
    expect(await limited.revisions()).toHaveLength(1);
  });
});

describe.concurrent('an Action beside the App', () => {
  test('deploys the same commit at the same time: one revision', async () => {
    const project = await openProject(fixture, 'beside');
    const letGo = fixture.service.hold(project.deploymentId);
    const commit = await project.push('Change');
    const { url, apiKey } = fixture.service;
    const run = runDeployment({
      options: {
        baseUrl: url,
        apiKey,
        spelling: 'contract',
        allowHttp: false,
        mode: 'deploy',
        wait: true,
        timeoutMs: 60_000,
        pollMs: 200,
        onSuperseded: 'fail',
      },
      subject: {
        mode: 'deploy',
        desired: {
          source: 'github',
          name: project.name,
          repoUrl: fixture.github.gitUrl(project.fullName),
          repoRef: 'main',
          graphConfigPath: 'langgraph.json',
          rebuild: 'auto',
          secretsStrategy: 'merge',
        },
        smokeTests: [],
        onFailure: 'keep',
        onUnproven: 'keep',
      },
      head: commit,
      userAgent: 'journey',
      signal: new AbortController().signal,
      emit: () => undefined,
      mask: () => undefined,
    });
    await project.building();
    letGo();
    expect(await run).toMatchObject({ kind: 'deployed' });
    await project.concluded(commit, 'success', /Live and proven/);
    await project.quiet();
    expect(await project.revisions()).toHaveLength(1);
  });
});

test('waits in the check while the control service is down, then continues', async () => {
  const project = await openProject(fixture, 'dark');
  fixture.service.isAway = true;
  const commit = await project.push('Change');
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect((await project.check(commit))?.status).not.toBe('completed');
  fixture.service.isAway = false;
  await project.concluded(commit, 'success', /Live and proven/);
  expect(await project.revisions()).toHaveLength(1);
});

test('after an outage of the App, redelivers missed webhooks or finds the commits', async () => {
  const [missed, forgotten] = await Promise.all([openProject(fixture, 'missed'), openProject(fixture, 'forgotten')]);
  const { github } = fixture;
  await github.settled();
  await fixture.stop();
  const call = await missed.push('While the App is down');
  await github.settled();
  // GitHub has no record of a webhook that it never sent.
  github.sendWebhooksTo(undefined);
  const found = await commitAgo(forgotten, 'While the App is down', 30);
  await forgotten.clone.push();
  github.sendWebhooksTo(fixture.webhookUrl);
  await fixture.start(clockIn(2));
  await missed.concluded(call, 'success', /Live and proven/);
  await forgotten.concluded(found, 'success', /Live and proven, recovered 3\d minutes late/);
  expect(github.deliveries().some(({ event, isRedelivery }) => event === 'push' && isRedelivery)).toBe(true);
  expect(await missed.revisions()).toHaveLength(1);
  expect(await forgotten.revisions()).toHaveLength(1);
});
