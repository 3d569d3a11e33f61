import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProbotOctokit } from 'probot';
import { testGitHub, type Clone, type TestGitHub } from './github.ts';
import { probotOf } from './octokit.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const at = { owner: 'acme', repo: 'agents' };

let demo: TestGitHub;
let receiver: Receiver;
let clone: Clone;
let app: InstanceType<typeof ProbotOctokit>;
let octokit: InstanceType<typeof ProbotOctokit>;
let guids: string[];

beforeAll(async () => {
  demo = await testGitHub({ people: ['mona', 'writer'] });
  const { github } = demo;
  await github.createRepository('acme/agents', { from: await demo.files({ 'a.txt': 'a' }), writers: ['writer'] });
  receiver = await startReceiver(github.app.webhookSecret);
  github.sendWebhooksTo(receiver.url);
  await github.install('acme');
  clone = await demo.clone('acme/agents');
  const probot = probotOf(github);
  app = await probot.auth();
  octokit = await probot.auth(github.installationId('acme'));
});

beforeEach(async () => {
  await demo.github.settled();
  receiver.received.length = 0;
});

afterAll(async () => {
  await demo.github.settled();
  await receiver.close();
  await demo.stop();
});

/** Pushes a commit. @returns it and the GUID of its push. */
async function push(): Promise<{ commit: string; guid: string }> {
  const commit = await clone.commit('Next', {});
  await clone.push();
  await demo.github.settled();
  const reported = demo.github.deliveries().findLast(({ event }) => event === 'push');
  return { commit, guid: reported?.guid ?? '' };
}

describe('deliveries', () => {
  test('lists failed deliveries, and redelivers them under the same GUID', async () => {
    receiver.answer(503);
    const { guid } = await push();
    receiver.answer(202);
    const { data } = await app.request('GET /app/hook/deliveries', { per_page: 2 });
    const found = data.find((each) => each.guid === guid);
    expect(found).toMatchObject({ event: 'push', status_code: 503, redelivery: false });
    const one = { delivery_id: Number(found?.id) };
    receiver.received.length = 0;
    await app.request('POST /app/hook/deliveries/{delivery_id}/attempts', one);
    await demo.github.settled();
    expect(receiver.received).toMatchObject([{ event: 'push', guid, isSigned: true }]);
    const { data: after } = await app.request('GET /app/hook/deliveries');
    expect(after[0]).toMatchObject({ guid, status: 'OK', redelivery: true });
  });

  test('the list shows deliveries to an unavailable App', async () => {
    demo.github.sendWebhooksTo('http://127.0.0.1:9/');
    const { guid } = await push();
    demo.github.sendWebhooksTo(receiver.url);
    const { data } = await app.request('GET /app/hook/deliveries');
    expect(data.find((each) => each.guid === guid)).toMatchObject({
      status: 'failed to connect to host',
      status_code: 502,
    });
  });

  test('lists all of them page by page', async () => {
    guids = demo.github
      .deliveries()
      .map(({ guid }) => guid)
      .toReversed();
    const found = await app.paginate('GET /app/hook/deliveries', { per_page: 2 });
    expect(found.map(({ guid }) => guid)).toEqual(guids);
  });

  test('the same delivery can be redelivered repeatedly', async () => {
    const { guid } = await push();
    receiver.received.length = 0;
    await demo.github.deliver(guid);
    await demo.github.deliver(guid);
    expect(receiver.received.map((each) => each.guid)).toEqual([guid, guid]);
  });
});

describe('checks', () => {
  test('Re-run and buttons report who clicked', async () => {
    const { commit } = await push();
    const actions = [{ label: 'Redeploy', description: 'Once more', identifier: 'redeploy' }];
    const { data: run } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...at,
      name: 'Landfall: echo',
      head_sha: commit,
      conclusion: 'success',
      actions,
    });
    const id = Number(run.id);
    await demo.github.pressButton('acme/agents', id, 'redeploy', 'writer');
    await demo.github.pressRerun('acme/agents', id);
    await demo.github.rerunAll('acme/agents', commit);
    await demo.github.settled();
    expect(receiver.of('check_run.requested_action')[0]?.payload).toMatchObject({
      requested_action: { identifier: 'redeploy' },
      check_run: {
        id,
        name: 'Landfall: echo',
        head_sha: commit,
        check_suite: { head_branch: 'main', app: { id: demo.github.app.id } },
      },
      sender: { login: 'writer' },
    });
    expect(receiver.of('check_run.rerequested')[0]?.payload).toMatchObject({
      check_run: { id },
      sender: { login: 'mona' },
    });
    expect(receiver.of('check_suite.rerequested')[0]?.payload).toMatchObject({ check_suite: { head_sha: commit } });
    expect(receiver.of('check_run.created')).toHaveLength(1);
    await expect(demo.github.pressButton('acme/agents', id, 'other')).rejects.toThrow('no button');
  });
});

describe('other events of an App', () => {
  test('a renamed repository is reported, and found by its old name and its id', async () => {
    const { id } = await demo.github.createRepository('acme/old', { from: await demo.files({ 'b.txt': 'b' }) });
    await demo.github.rename('acme/old', 'new');
    await demo.github.settled();
    expect(receiver.of('repository.renamed')[0]?.payload).toMatchObject({
      repository: { id, name: 'new' },
      changes: { repository: { name: { from: 'old' } } },
    });
    const { data } = await octokit.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'old' });
    expect(data).toMatchObject({ id, full_name: 'acme/new' });
    await expect(demo.clone('acme/old')).resolves.toBeDefined();
  });

  test('an uninstallation is reported, and its tokens become invalid', async () => {
    await octokit.request('GET /repos/{owner}/{repo}', at);
    await demo.github.uninstall('acme');
    await demo.github.settled();
    expect(receiver.of('installation.deleted')).toHaveLength(1);
    await expect(octokit.request('GET /repos/{owner}/{repo}', at)).rejects.toMatchObject({ status: 401 });
    expect((await app.request('GET /app/installations')).data).toEqual([]);
    await demo.github.install('acme');
    await demo.github.settled();
    expect(receiver.of('installation.created')[0]?.payload).toMatchObject({
      repositories: [{ name: 'agents' }, { name: 'new' }],
    });
  });

  test('what it was not given is refused', async () => {
    const token = { installation_id: demo.github.installationId('acme'), permissions: { checks: 'read' as const } };
    const { data } = await app.request('POST /app/installations/{installation_id}/access_tokens', token);
    const run = { name: 'Landfall', head_sha: await demo.github.headOf('acme/agents') };
    const answered = await fetch(`${demo.github.url}/repos/acme/agents/check-runs`, {
      method: 'POST',
      headers: { authorization: `token ${data.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(run),
    });
    expect(answered.status).toBe(403);
  });

  test('simulates other responses, lost ones, and lost ones after the effect', async () => {
    const head_sha = (await demo.github.headOf('acme/agents')) ?? '';
    const make = (name: string) => octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...at, name, head_sha });
    demo.github.interfere(({ method }) => (method === 'POST' ? { status: 503, body: { message: 'away' } } : undefined));
    await expect(make('first')).rejects.toMatchObject({ status: 503 });
    demo.github.interfere(({ method }) => (method === 'POST' ? 'close' : undefined));
    await expect(make('second')).rejects.toThrow(/fetch failed|closed|other side/);
    demo.github.interfere(({ method }) => (method === 'POST' ? 'lose' : undefined));
    await expect(make('third')).rejects.toThrow(/fetch failed|closed|other side/);
    demo.github.interfere(undefined);
    const names = (await demo.github.checkRuns('acme/agents', head_sha)).map(({ name }) => name);
    expect(names).toContain('third');
    expect(names).not.toContain('first');
    expect(names).not.toContain('second');
  });

  test('counts requests by operation', async () => {
    const before = demo.github.requests.length;
    await octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'main' });
    const installationId = demo.github.installationId('acme');
    expect(demo.github.requests.slice(before)).toMatchObject([
      { method: 'GET', template: '/repos/{owner}/{repo}/branches/{branch}', status: 200, installationId },
    ]);
  });
});
