// Pushes to a service that holds revisions: they are tested before anybody is served by them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAppFixture, type AppFixture } from './app-fixture.ts';
import { openProject } from './app-project.ts';

let fixture: AppFixture;

beforeAll(async () => {
  fixture = await openAppFixture({ owners: ['held', 'again'], holds: true });
});
afterAll(() => fixture?.close());

/** Sends requests to the live agent, one after the other, and counts what it says. */
function sendRequests(deploymentId: string) {
  const said = new Map<string, number>();
  const over = new AbortController();
  const sending = (async () => {
    while (!over.signal.aborted) {
      const response = await fetch(`${fixture.service.url}/agents/${deploymentId}/runs/wait`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': fixture.service.apiKey },
        body: JSON.stringify({ assistant_id: 'talk', input: { input: 'Eve' } }),
      });
      // A slow answer begins with line breaks, which keep the connection open.
      const answer = `${response.status} ${(await response.text()).trim()}`;
      said.set(answer, (said.get(answer) ?? 0) + 1);
    }
  })();
  return async () => {
    over.abort();
    await sending;
    return said;
  };
}

test('discards a push that fails its smoke test while the live revision serves, and promotes one that passes', async () => {
  const project = await openProject(fixture, 'held');
  const end = sendRequests(project.deploymentId);
  const wrong = await project.push('Answer wrongly', { 'says.txt': 'goodbye\n' });
  const failed = await project.concluded(wrong, 'failure', /^Discarded before it got traffic: says hello: /);
  expect(await project.wordsOf(failed)).toContain('failed its smoke tests before it got traffic, and was discarded');
  await project.deployed(wrong, 'failure');
  expect(await project.revisions()).toMatchObject([{ status: 'INTERRUPTED', hold: { decision: 'discarded' } }]);
  expect(await project.liveCommit()).toBe(project.first);
  const right = await project.push('Answer well', { 'says.txt': 'hello\n' });
  const passed = await project.concluded(right, 'success', /^Live and proven$/);
  expect(await project.wordsOf(passed)).toContain('is live and passed 1 smoke test before it got traffic');
  expect(await project.revisions()).toMatchObject([{}, { status: 'DEPLOYED', hold: { decision: 'promoted' } }]);
  expect(await project.liveCommit()).toBe(right);
  const said = await end();
  const [[answer, times] = ['', 0], ...others] = said;
  expect([answer, others]).toEqual(['200 {"input":"Eve","said":"hello Eve"}', []]);
  expect(times).toBeGreaterThan(10);
});

test('promotes one that was held while the App was down', async () => {
  const project = await openProject(fixture, 'again');
  const commit = await project.push('Change');
  await fixture.until('the revision to be held', async () => (await project.revisions()).at(-1)?.hold?.ends_at);
  await fixture.stop();
  await fixture.start();
  await project.concluded(commit, 'success', /^Live and proven$/);
  expect(await project.revisions()).toMatchObject([{ status: 'DEPLOYED', hold: { decision: 'promoted' } }]);
});
