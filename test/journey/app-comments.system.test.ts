// What people command by comments on a pull request, with a real control service and running agents.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAppFixture, people, type AppFixture } from './app-fixture.ts';
import { openProject, type Project } from './app-project.ts';

let fixture: AppFixture;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['comments', 'pinned'] });
});
afterAll(() => fixture?.close());

/** Opens a pull request from a branch, with a commit of its own. @returns its number. */
async function pullRequest({ clone, fullName }: Project): Promise<number> {
  await clone.git('checkout', '--quiet', '-b', 'idea');
  await clone.commit('An idea', { 'idea.txt': 'idea\n' });
  await clone.push();
  await clone.git('checkout', '--quiet', 'main');
  return fixture.github.openPullRequest(fullName, { title: 'Idea', head: 'idea', base: 'main', by: people.writer });
}

/** Comments, and waits for the last reaction of the App. @returns what its one comment says. */
async function commented(project: Project, number: number, body: string, by: string): Promise<string> {
  const { github } = fixture;
  const id = await github.comment(project.fullName, number, body, by);
  await fixture.untilSeen(project.fullName, `the end of ${body}`, async () => github.reactionsTo(id).length === 2);
  return fixture.untilSeen(project.fullName, `the answer to ${body}`, async () => {
    const answers = await github.commentsOf(project.fullName, number);
    return answers.length === 1 && answers[0]?.includes(`<code>${body}</code> by <code>${by}</code>`)
      ? answers[0]
      : undefined;
  });
}

test('/rollback restores the former revision, once, and only for those who may write', async () => {
  const project = await openProject(fixture, 'comments');
  const number = await pullRequest(project);
  const changed = await project.push('Change');
  await project.concluded(changed, 'success', /Live and proven/);

  expect(await commented(project, number, '/rollback', people.stranger)).toContain('stan has only read access');
  expect(await project.liveCommit()).toBe(changed);

  const answer = await commented(project, number, '/rollback', people.writer);
  expect(answer).toContain('Requested comments-talk to go back to revision');
  await project.concluded(project.first, 'success', /Live and proven/);
  expect(await project.liveCommit()).toBe(project.first);

  const delivery = fixture.github.deliveries().findLast(({ event }) => event === 'issue_comment');
  for (let again = 0; again < 3; again += 1) await fixture.github.deliver(delivery?.guid ?? '');
  await project.quiet();
  expect(await project.revisions()).toHaveLength(2);
  expect(await commented(project, number, '/status', people.writer)).toContain('live is revision');
});

test('/deploy builds the head that it shows, and ends what a rollback holds', async () => {
  const project = await openProject(fixture, 'pinned', { file: { 'after-rollback': 'hold' } });
  const number = await pullRequest(project);
  const changed = await project.push('Change');
  await project.concluded(changed, 'success', /Live and proven/);
  await commented(project, number, '/rollback', people.writer);
  await project.concluded(project.first, 'success', /Live and proven/);
  const next = await project.push('Next');
  await project.concluded(next, 'action_required', /Held/);

  const refused = await commented(project, number, `/deploy ${changed.slice(0, 7)}`, people.writer);
  expect(refused).toContain('is not the head of main');
  expect(await commented(project, number, `/deploy ${next.slice(0, 7)}`, people.writer)).toContain(next);
  await project.concluded(next, 'success', /Live and proven/);
  expect(await project.liveCommit()).toBe(next);
});
