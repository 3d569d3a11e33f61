// What people click on GitHub, and how the App handles wrong answers, pull requests, branches and renames.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openAppFixture, people, type AppFixture } from './app-fixture.ts';
import { ofCommit, openProject, type Project } from './app-project.ts';

let fixture: AppFixture;

beforeAll(async () => {
  fixture = await openAppFixture({
    owners: ['wrong', 'held', 'back', 'again', 'pulls', 'forks', 'ends', 'moves'],
  });
});
afterAll(() => fixture?.close());

const says = (word: string): Record<string, string> => ({ 'says.txt': `${word}\n` });

/** A deploy file with a field on its seventh line that the deployment does not have. */
const deployFile = ({ name, fullName }: Project, seventh: string): Record<string, string> => ({
  '.github/landfall.yml': [
    `name: ${name}`,
    'source: github',
    `repo-url: ${fixture.github.gitUrl(fullName)}`,
    'repo-ref: main',
    'graph-config-path: langgraph.json',
    'build-on-push: true',
    seventh,
    '',
  ].join('\n'),
});

describe.concurrent('a wrong answer', () => {
  test('is rolled back; the same commit is not tried again by itself, the next one is', async () => {
    const project = await openProject(fixture, 'wrong', { file: { 'on-failure': 'rollback' } });
    const wrong = await project.push('Say something else', says('nonsense'));
    const run = await project.concluded(wrong, 'failure', /rolled back/);
    const words = await project.wordsOf(run);
    expect(words).toContain('hello Ada');
    expect(words).toContain('serves again');
    await project.deployed(wrong, 'failure');
    expect(await project.liveCommit()).toBe(project.first);
    const before = (await project.revisions()).length;

    await project.clone.push('--force', 'origin', `${project.first}:main`);
    await project.quiet();
    await project.clone.push('origin', `${wrong}:main`);
    await project.quiet();
    expect([(await project.revisions()).length, await project.liveCommit()]).toEqual([before, project.first]);
    expect(await project.check(wrong)).toMatchObject({
      conclusion: 'failure',
      title: expect.stringContaining('rolled back'),
    });

    const mended = await project.push('Say hello again', says('hello'));
    await project.concluded(mended, 'success', /Live and proven/);
    expect(await project.liveCommit()).toBe(mended);
  });

  test('holds the deployment if the file says so, until a person clicks Redeploy', async () => {
    const project = await openProject(fixture, 'held', {
      file: { 'on-failure': 'rollback', 'after-rollback': 'hold' },
    });
    const wrong = await project.push('Say something else', says('nonsense'));
    await project.concluded(wrong, 'failure', /rolled back/);
    const next = await project.push('Say hello again', says('hello'));
    const run = await project.concluded(next, 'action_required', /Held until a person presses Redeploy/);
    expect([run.buttons, await project.liveCommit()]).toEqual([['redeploy'], project.first]);
    await fixture.github.pressButton(project.fullName, run.id, 'redeploy', people.writer);
    await project.concluded(next, 'success', /Live and proven/);
    const after = await project.push('Go on');
    await project.concluded(after, 'success', /Live and proven/);
    expect(await project.liveCommit()).toBe(after);
  });
});

describe.concurrent('a person', () => {
  test('rolls back with a button, which requires write access', async () => {
    const project = await openProject(fixture, 'back');
    const commit = await project.push('Change');
    const run = await project.concluded(commit, 'success');
    await fixture.github.pressButton(project.fullName, run.id, 'rollback', people.stranger);
    await fixture.untilSeen(project.fullName, 'the refusal', async () =>
      (await project.check(commit))?.summary.includes('stan has only read access'),
    );
    expect(await project.liveCommit()).toBe(commit);

    await fixture.github.pressButton(project.fullName, run.id, 'rollback', people.writer);
    await project.concluded(project.first, 'success', /Live and proven/);
    expect(await project.liveCommit()).toBe(project.first);
    const reported = await project.concluded(commit, 'neutral', /Not deployed: .*was rolled back/);
    expect(reported.buttons).toEqual(['redeploy']);
    expect(await project.revisions()).toHaveLength(2);
  });

  test('rebuilds once per Re-run, of one check or of all checks of a commit', async () => {
    const project = await openProject(fixture, 'again');
    const commit = await project.push('Change');
    const run = await project.concluded(commit, 'success');
    await fixture.github.pressRerun(project.fullName, run.id, people.writer);
    await fixture.until('the second build', async () => (await project.revisions()).length === 2);
    await project.quiet();
    await project.concluded(commit, 'success', /Live and proven/);
    await fixture.github.rerunAll(project.fullName, commit, people.writer);
    await fixture.until('the third build', async () => (await project.revisions()).length === 3);
    await project.quiet();
    await project.concluded(commit, 'success', /Live and proven/);
    expect((await project.revisions()).map(({ status }) => status)).toEqual(['DEPLOYED', 'DEPLOYED', 'DEPLOYED']);
  });
});

describe.concurrent('a pull request', () => {
  test('that changes the file gets its errors on their lines, then its revision count', async () => {
    const project = await openProject(fixture, 'pulls');
    await project.clone.git('checkout', '--quiet', '-b', 'faster');
    const wrong = await project.commit('Be faster', deployFile(project, 'install-comand: npm ci'));
    await project.clone.push();
    const pull = { title: 'Faster', head: 'faster', base: 'main', by: people.writer };
    const number = await fixture.github.openPullRequest(project.fullName, pull);
    const reported = await project.concluded(wrong, 'failure', /1 problem in the files/, ofCommit);
    expect(await project.annotations(reported)).toMatchObject([{ path: '.github/landfall.yml', start_line: 7 }]);

    const right = await project.push('Be right', deployFile(project, 'install-command: npm ci'));
    const run = await project.concluded(right, 'success', /^Would change 1 deployment: 1 revision$/, ofCommit);
    expect(await project.wordsOf(run)).toContain('install_command');
    expect(await project.revisions()).toEqual([]);

    const queued = await fixture.github.queue(project.fullName, number);
    await project.concluded(queued, 'neutral', /^Nothing to deploy$/, ofCommit);
    await project.quiet();
    expect(await project.revisions()).toEqual([]);
  });

  test('from a fork has its check, and nothing of it is built', async () => {
    const project = await openProject(fixture, 'forks');
    const fork = await fixture.github.fork(project.fullName, people.stranger);
    const theirs = await fixture.demo.clone(fork, people.stranger);
    await theirs.git('checkout', '--quiet', '-b', 'idea');
    const head = await theirs.commit('Idea', { 'idea.txt': 'idea\n' });
    await theirs.push();
    const pull = { title: 'Idea', head: `${people.stranger}:idea`, base: 'main', by: people.stranger };
    await fixture.github.openPullRequest(project.fullName, pull);
    await project.concluded(head, 'neutral', /^Nothing to deploy$/, ofCommit);

    // A stranger sees the names of changed fields, but no deployed values.
    const changed = await theirs.commit('Faster', deployFile(project, 'install-command: npm ci'));
    await theirs.push();
    const run = await project.concluded(changed, 'success', /^Would change 1 deployment: 1 revision$/, ofCommit);
    const words = await project.wordsOf(run);
    expect(words).toContain('It comes from a fork');
    expect(words).not.toContain(project.first.slice(0, 7));
    await project.quiet();
    expect([await project.revisions(), await project.check(head)]).toEqual([[], undefined]);
  });
});

describe.concurrent('while a revision is on its way', () => {
  test('on branch deletion, ends what waits and reports what runs', async () => {
    const project = await openProject(fixture, 'ends', { branch: 'release' });
    const letGo = fixture.service.hold(project.deploymentId);
    const runs = await project.push('Runs');
    await project.building();
    const waits = await project.push('Waits');
    await fixture.untilSeen(project.fullName, 'the other to wait', async () => {
      return (await project.check(waits))?.title.startsWith('Waits for ');
    });
    await project.clone.push('--delete', 'origin', 'release');
    letGo();
    await project.concluded(runs, 'success');
    await project.concluded(waits, 'neutral', /Not deployed: the branch release is gone/);
    expect(await project.revisions()).toHaveLength(1);
  });

  test('on a rename, moves the check and reports the mismatch for later pushes', async () => {
    const project = await openProject(fixture, 'moves');
    const letGo = fixture.service.hold(project.deploymentId);
    const commit = await project.push('Change');
    await project.building();
    await fixture.github.rename(project.fullName, 'bots');
    letGo();
    const [former, renamed] = [project.fullName, 'moves/bots'];
    project.fullName = renamed;
    await project.concluded(commit, 'success', /Live and proven/);
    await project.deployed(commit, 'success');
    const next = await project.push('Go on');
    const run = await project.concluded(next, 'neutral', /^Nothing to deploy$/, ofCommit);
    expect(await project.wordsOf(run)).toContain('its repo_url is not this repository');
    await expect(fixture.github.checkRuns(former, commit)).resolves.toHaveLength(1);
  });
});
