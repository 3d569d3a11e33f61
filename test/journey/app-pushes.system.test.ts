// What a person sees on GitHub of commits that are pushed.
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nextWebhookSecret, openAppFixture, type AppFixture } from './app-fixture.ts';
import { ofCommit, openProject } from './app-project.ts';

let fixture: AppFixture;

beforeAll(async () => {
  fixture = await openAppFixture({
    owners: ['green', 'bare', 'skips', 'paths', 'thrice', 'five', 'forced', 'broken', 'victim', 'thief', 'secrets'],
  });
});
afterAll(() => fixture?.close());

describe.concurrent('a push', () => {
  test('is built, smoke-tested, and its check goes green', async () => {
    const project = await openProject(fixture, 'green', { file: { environment: 'live' } });
    const commit = await project.push('Change');
    const run = await project.concluded(commit, 'success', /Live and proven/);
    expect(await project.wordsOf(run)).toContain('says hello');
    expect(run.detailsUrl).toContain(`/agents/${project.deploymentId}`);
    expect(run.buttons).toEqual(['rollback', 'redeploy']);
    const made = await project.deployed(commit, 'success');
    expect(made).toMatchObject({ environment: 'live', sha: commit });
    expect(made.statuses.at(-1)?.['environment_url']).toContain(`/agents/${project.deploymentId}`);
    expect(await project.revisions()).toMatchObject([{ status: 'DEPLOYED' }]);
    expect(await project.liveCommit()).toBe(commit);
  });

  test('to a branch without a deployment says so', async () => {
    const project = await openProject(fixture, 'bare', { file: null });
    await project.clone.git('checkout', '--quiet', '-b', 'docs');
    const commit = await project.push('Explain');
    const run = await project.concluded(commit, 'neutral', /^Nothing to deploy$/, ofCommit);
    expect(run.summary).toContain('No deployment is built from docs of bare/agents');
    await project.quiet();
    expect([await project.revisions(), await project.check(commit)]).toEqual([[], undefined]);
    expect(project.deploymentsOf(commit)).toEqual([]);
  });

  test('with a skip word is skipped until a person clicks Redeploy', async () => {
    const project = await openProject(fixture, 'skips');
    const commit = await project.push('Correct a word [Skip Deploy]');
    const run = await project.concluded(commit, 'neutral', /Not deployed: .*\[skip deploy\]/i);
    expect([await project.revisions(), run.buttons]).toEqual([[], ['redeploy']]);
    await fixture.github.pressButton(project.fullName, run.id, 'redeploy');
    await project.concluded(commit, 'success', /Live and proven/);
    expect(await project.liveCommit()).toBe(commit);
  });

  test('outside the paths is skipped, and the next one inside them is built', async () => {
    const project = await openProject(fixture, 'paths', {
      file: { paths: { include: ['src/**'], exclude: ['**/*.md'] } },
    });
    const words = await project.push('Words', { 'src/readme.md': 'words\n', 'notes.txt': 'notes\n' });
    await project.concluded(words, 'neutral', /Not deployed/);
    expect(await project.revisions()).toEqual([]);
    const work = await project.push('Work', { 'src/more.ts': 'export {};\n' });
    await project.concluded(work, 'success', /Live and proven/);
    expect(await project.revisions()).toHaveLength(1);
  });

  test('that is delivered three times is one revision, one check, one deployment', async () => {
    const project = await openProject(fixture, 'thrice');
    const commit = await project.push('Change');
    const { github } = fixture;
    const push = github.deliveries().find(({ event, payload }) => event === 'push' && payload['after'] === commit);
    for (const guid of [push?.guid ?? '', push?.guid ?? '']) {
      expect((await github.deliver(guid)).response?.statusCode).toBe(202);
    }
    await project.concluded(commit, 'success');
    await project.deployed(commit, 'success');
    expect((await github.deliver(push?.guid ?? '')).response?.statusCode).toBe(202);
    await project.quiet();
    expect(await project.revisions()).toHaveLength(1);
    expect((await github.checkRuns(project.fullName, commit)).map(({ name }) => name)).toEqual([
      `Landfall: ${project.name}`,
    ]);
  });

  test('back to an older commit is built even if that commit was live before', async () => {
    const project = await openProject(fixture, 'forced');
    const commit = await project.push('Change');
    await project.concluded(commit, 'success');
    await project.clone.git('reset', '--quiet', '--hard', project.first);
    await project.clone.push('--force', 'origin', 'HEAD:main');
    await project.concluded(project.first, 'success', /Live and proven/);
    expect(await project.revisions()).toHaveLength(2);
    expect(await project.liveCommit()).toBe(project.first);
    expect(await project.check(commit)).toMatchObject({ conclusion: 'success' });
  });

  test('that does not build fails with its last log lines, and the live revision stays', async () => {
    const project = await openProject(fixture, 'broken');
    const commit = await project.push('Break', { 'build.txt': 'fails\n' });
    const run = await project.concluded(commit, 'failure', /^Failed/);
    const words = await project.wordsOf(run);
    expect(words).toContain('The build command ended with 1');
    expect(words).toContain('no such module');
    expect(run.buttons).toEqual(['redeploy']);
    await project.deployed(commit, 'failure');
    expect(await project.liveCommit()).toBe(project.first);
    const mended = await project.push('Mend', { 'build.txt': 'works\n' });
    await project.concluded(mended, 'success', /Live and proven/);
    // The failure has its own cause, and another commit fixes it.
    expect(await project.check(commit)).toMatchObject({ conclusion: 'failure' });
  });
});

describe.concurrent('beside a push', () => {
  test('builds the first and the last of five quick pushes', async () => {
    const project = await openProject(fixture, 'five');
    const letGo = fixture.service.hold(project.deploymentId);
    const commits = [await project.push('Change 1')];
    await project.building();
    for (const number of [2, 3, 4, 5]) commits.push(await project.push(`Change ${number}`));
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = commits;
    for (const commit of [second, third, fourth]) {
      await fixture.untilSeen(project.fullName, 'the others to be superseded', async () => {
        const run = await project.check(commit);
        return run?.conclusion === 'neutral' && run.title.startsWith('Superseded by ');
      });
    }
    await fixture.untilSeen(project.fullName, 'the last to wait', async () => {
      return (await project.check(fifth))?.status === 'queued';
    });
    expect(await project.check(fourth)).toMatchObject({ title: `Superseded by ${fifth.slice(0, 7)}` });
    expect(await project.check(first)).toMatchObject({ status: 'in_progress' });
    letGo();
    await project.concluded(fifth, 'success', /Live and proven/);
    for (const commit of [second, third, fourth]) {
      await project.concluded(commit, 'success', new RegExp(`^Live in ${fifth.slice(0, 7)}$`));
    }
    await project.concluded(first, 'success');
    expect(await project.revisions()).toHaveLength(2);
    expect(await project.liveCommit()).toBe(fifth);
  });

  test("rejects a file that names another repository's deployment and reveals nothing", async () => {
    const [victim, thief] = await Promise.all([
      openProject(fixture, 'victim'),
      openProject(fixture, 'thief', { file: null }),
    ]);
    const stolen = {
      source: 'github',
      'deployment-id': victim.deploymentId,
      'repo-url': fixture.github.gitUrl(thief.fullName),
      'repo-ref': 'main',
      'graph-config-path': 'langgraph.json',
      'build-on-push': true,
    };
    const text = JSON.stringify({ deployments: { mine: stolen } });
    const commit = await thief.push('Take it', { '.github/landfall.yml': text });
    await thief.concluded(commit, 'success');
    const run = await thief.concluded(commit, 'neutral', /not acted upon/, ofCommit);
    const words = await thief.wordsOf(run);
    expect(words).toContain('a repository controls its own deployments only');
    expect(words).not.toContain('victim');
    await thief.quiet();
    expect(await victim.revisions()).toEqual([]);
  });

  test('accepts the current and the next webhook secret, and no other', async () => {
    const project = await openProject(fixture, 'secrets');
    const commit = await project.push('Change');
    await project.concluded(commit, 'success');
    const call = fixture.github
      .deliveries()
      .find(({ event, payload }) => event === 'check_suite' && JSON.stringify(payload).includes(commit));
    const body = JSON.stringify({ ...call?.payload, action: 'rerequested' });
    const send = async (secret: string): Promise<number> => {
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'check_suite',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      };
      return (await fetch(fixture.webhookUrl, { method: 'POST', headers, body })).status;
    };
    expect(await send('a-secret-unknown-to-the-app')).toBe(401);
    expect(await send(nextWebhookSecret)).toBe(202);
    await fixture.until('the commit to be built again', async () => (await project.revisions()).length === 2);
    await project.concluded(commit, 'success');
  });
});
