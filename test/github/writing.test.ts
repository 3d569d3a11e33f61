import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AppOctokit } from '../../app/github/installation-clients.ts';
import { findCheck, writeCheck, type Check } from '../../src/github/check.ts';
import { statusOf, type GitHubClient } from '../../src/github/client.ts';
import { authorOf, commentMark, writeComment } from '../../src/github/comment.ts';
import { createDeployment, writeDeploymentStatus, type GitHubDeployment } from '../../src/github/deployment.ts';
import { LittleGitHub } from './little-github.ts';

const commit = 'c0ffee0000000000000000000000000000000001';
const repository = { owner: 'acme', name: 'agents' };
const at = { repository, headSha: commit, name: 'Landfall: echo', externalId: 'ours' };
const queued: Check = { status: 'queued', title: 'Waits', summary: 'It waits.' };
const annotation = (line: number) =>
  ({ path: 'a.yml', startLine: line, endLine: line, level: 'warning', message: `line ${line}` }) as const;

let github: LittleGitHub;
let client: GitHubClient;

beforeEach(async () => {
  github = new LittleGitHub();
  client = new AppOctokit({ auth: { token: 'secret-token' }, baseUrl: await github.start() });
});
afterEach(() => github.stop());

const bodies = (method: string) => github.requests.filter((each) => each.method === method).map(({ body }) => body);
const sentAnnotations = () =>
  [...bodies('POST'), ...bodies('PATCH')].map(({ output }) =>
    typeof output === 'object' && output !== null && 'annotations' in output && Array.isArray(output.annotations)
      ? output.annotations.length
      : 0,
  );

describe('a check run', () => {
  test('is made with the commit, the name and our external id', async () => {
    const id = await writeCheck(client, at, undefined, queued);
    expect(github.checks).toMatchObject([
      { id, name: 'Landfall: echo', head_sha: commit, external_id: 'ours', status: 'queued', actions: [] },
    ]);
  });

  test('is found by its external id behind a hundred others, and is not made again', async () => {
    for (let n = 0; n < 130; n += 1) {
      github.checks.push({
        id: github.nextId(),
        name: at.name,
        head_sha: commit,
        external_id: `other ${n}`,
        output: {},
      });
    }
    const id = await writeCheck(client, at, undefined, queued);
    expect(await writeCheck(client, at, undefined, { ...queued, title: 'Still waits' })).toBe(id);
    expect(github.checks.filter((each) => each['external_id'] === 'ours')).toHaveLength(1);
    expect(await findCheck(client, at)).toMatchObject({ id });
  });

  test('whose making was not answered is found by the next attempt', async () => {
    github.after = (requests, answered) => (requests.method === 'POST' ? { status: 502, body: {} } : answered);
    await expect(writeCheck(client, at, undefined, queued)).rejects.toMatchObject({ status: 502 });
    github.after = (_, answered) => answered;
    await writeCheck(client, at, undefined, queued);
    expect(github.checks).toHaveLength(1);
  });

  test('that is known is changed and not looked for', async () => {
    const id = await writeCheck(client, at, undefined, queued);
    github.requests.length = 0;
    await writeCheck(client, at, id, {
      ...queued,
      status: 'completed',
      conclusion: 'success',
      completedAt: '2026-01-05T08:00:00Z',
    });
    expect(github.lines).toEqual([`PATCH /repos/acme/agents/check-runs/${id}`]);
    expect(github.checks).toMatchObject([
      { status: 'completed', conclusion: 'success', completed_at: '2026-01-05T08:00:00Z' },
    ]);
  });

  test('loses the buttons that it is not to have any more', async () => {
    const actions = [{ label: 'Redeploy', description: 'Again', identifier: 'redeploy' }];
    const id = await writeCheck(client, at, undefined, { ...queued, actions });
    expect(github.checks).toMatchObject([{ actions }]);
    await writeCheck(client, at, id, queued);
    expect(github.checks).toMatchObject([{ actions: [] }]);
  });

  test('sends every annotation once, fifty in a request', async () => {
    const annotations = Array.from({ length: 120 }, (_, n) => annotation(n + 1));
    await writeCheck(client, at, undefined, { ...queued, annotations });
    expect(sentAnnotations()).toEqual([50, 50, 20]);
  });

  test('goes on with annotations where an attempt was cut off', async () => {
    const annotations = Array.from({ length: 120 }, (_, n) => annotation(n + 1));
    let patches = 0;
    github.before = ({ method }) => {
      patches += method === 'PATCH' ? 1 : 0;
      return method === 'PATCH' && patches === 1 ? { status: 500, body: {} } : undefined;
    };
    await expect(writeCheck(client, at, undefined, { ...queued, annotations })).rejects.toMatchObject({ status: 500 });
    await writeCheck(client, at, undefined, { ...queued, annotations });
    expect(github.checks).toMatchObject([{ output: { annotations_count: 120 } }]);
    const id = Number(github.checks[0]?.id);
    github.requests.length = 0;
    await writeCheck(client, at, id, { ...queued, annotations });
    expect(sentAnnotations()).toEqual([0]);
  });

  test('is sent whole characters only, and no more of an annotation than GitHub takes', async () => {
    const long = { ...annotation(1), title: '😀'.repeat(200), message: 'é'.repeat(70_000) };
    await writeCheck(client, at, undefined, { ...queued, title: 'cut \ud83d', annotations: [long] });
    const [body] = bodies('POST');
    expect(JSON.stringify(body)).not.toMatch(/\\ud[89a-f]/i);
    expect(body).toMatchObject({
      output: { annotations: [{ title: expect.stringMatching(/^.{255}$/s), message: expect.stringMatching(/…$/) }] },
    });
  });

  test.each([
    ['completed without a conclusion', { ...queued, status: 'completed' }],
    ['open with one', { ...queued, conclusion: 'success' }],
  ] as const)('is never sent %s', async (_, check) => {
    await expect(writeCheck(client, at, undefined, check)).rejects.toThrow(TypeError);
    expect(github.requests).toEqual([]);
  });
});

describe('a GitHub Deployment', () => {
  const place = { repository, commit, externalId: 'intent-1' };
  const shown: GitHubDeployment = {
    environment: 'production',
    production: true,
    transient: false,
    state: 'in_progress',
    description: 'echo',
  };

  test('is of the commit, merges nothing and waits for no other check', async () => {
    const made = await createDeployment(client, place, shown);
    expect(made.kind).toBe('made');
    expect(bodies('POST')).toEqual([
      {
        ref: commit,
        auto_merge: false,
        required_contexts: [],
        payload: { landfall: 'intent-1' },
        environment: 'production',
        description: 'echo',
        transient_environment: false,
        production_environment: true,
      },
    ]);
  });

  test.each([
    ['as it was sent', { landfall: 'intent-1' }],
    ['as text', '{"landfall":"intent-1"}'],
  ])('is found by our id in its payload, %s, among foreign payloads', async (_, payload) => {
    for (let n = 0; n < 101; n += 1) {
      github.deployments.push({ id: github.nextId(), sha: commit, payload: [{}, '{', 'null', '', null][n % 5] });
    }
    github.deployments.push({ id: 7, sha: commit, environment: 'production', payload });
    expect(await createDeployment(client, place, shown)).toEqual({ kind: 'made', id: 7 });
    expect(bodies('POST')).toEqual([]);
  });

  test('of the same run and commit to another environment is another one', async () => {
    const staging = await createDeployment(client, place, { ...shown, environment: 'staging' });
    const production = await createDeployment(client, place, shown);
    expect(production).not.toEqual(staging);
    expect(github.deployments.map(({ environment }) => environment)).toEqual(['staging', 'production']);
  });

  test.each([
    [202, 'Auto-merged main into topic on deployment.'],
    [409, "Conflict: Commit status checks failed for 'main'."],
  ])('that GitHub did not make (%i) is a value with its sentence', async (status, message) => {
    github.before = ({ method }) => (method === 'POST' ? { status, body: { message } } : undefined);
    const made = await createDeployment(client, place, shown);
    expect(made).toMatchObject({ kind: 'not-made', status });
    expect(made.kind === 'not-made' ? made.reason : '').toContain(message);
  });

  test('has a description of at most 140 characters, whole ones', async () => {
    await writeDeploymentStatus(client, place, 5, {
      ...shown,
      description: '😀'.repeat(100),
      environmentUrl: 'https://echo.example',
    });
    const [body] = bodies('POST');
    expect(String(body?.['description']).length).toBe(140);
    expect(String(body?.['description']).isWellFormed()).toBe(true);
    expect(body).toMatchObject({ state: 'in_progress', environment_url: 'https://echo.example', auto_inactive: false });
  });

  test('retires earlier ones with its success only', async () => {
    await writeDeploymentStatus(client, place, 5, { ...shown, state: 'success' });
    expect(bodies('POST')).toMatchObject([{ state: 'success', auto_inactive: true }]);
  });

  test.each([
    ['is transient', { transient: true }],
    ['others deploy to', { shared: true }],
  ])("does not retire others' deployments in an environment that %s", async (_, more) => {
    await writeDeploymentStatus(client, place, 5, { ...shown, production: false, ...more, state: 'success' });
    expect(bodies('POST')).toMatchObject([{ state: 'success', auto_inactive: false }]);
  });

  test('is not given a status again that an unanswered attempt gave it', async () => {
    await writeDeploymentStatus(client, place, 5, shown);
    await writeDeploymentStatus(client, place, 5, shown, { checkFirst: true });
    expect(github.statuses).toHaveLength(1);
    await writeDeploymentStatus(client, place, 5, { ...shown, state: 'success' }, { checkFirst: true });
    expect(github.statuses).toHaveLength(2);
  });
});

describe('the comment on a pull request', () => {
  const place = { repository, pullRequest: 12, topic: 'echo' };
  const bot = { kind: 'any-bot' } as const;
  const by = (login: string, type: string, body: string) => ({ id: github.nextId(), body, user: { login, type } });

  test('is made once and edited from then on', async () => {
    const id = await writeComment(client, place, bot, 'first');
    expect(await writeComment(client, place, bot, 'second')).toBe(id);
    expect(github.comments.map(({ body }) => body)).toEqual([`${commentMark('echo')}\nsecond`]);
  });

  test('is edited by its id without a look at the others', async () => {
    const id = await writeComment(client, place, bot, 'first');
    github.requests.length = 0;
    expect(await writeComment(client, place, bot, 'second', id)).toBe(id);
    expect(github.lines).toEqual([`PATCH /repos/acme/agents/issues/comments/${id}`]);
  });

  test('that a person deleted is made anew', async () => {
    const id = await writeComment(client, place, bot, 'first');
    github.comments.length = 0;
    expect(await writeComment(client, place, bot, 'second', id)).not.toBe(id);
    expect(github.comments.map(({ body }) => body)).toEqual([`${commentMark('echo')}\nsecond`]);
  });

  test('is kept where the name that it is about holds half a sign', async () => {
    const about = { ...place, topic: 'echo \ud83d' };
    const id = await writeComment(client, about, bot, 'first');
    expect(await writeComment(client, about, bot, 'second')).toBe(id);
  });

  test('is found on the second page', async () => {
    for (let n = 0; n < 120; n += 1) github.comments.push(by('someone', 'User', `talk ${n}`));
    const id = await writeComment(client, place, bot, 'first');
    expect(await writeComment(client, place, bot, 'second')).toBe(id);
    expect(github.comments).toHaveLength(121);
  });

  test('of another deployment is another', async () => {
    await writeComment(client, place, bot, 'echo');
    await writeComment(client, { ...place, topic: 'echo-2' }, bot, 'echo-2');
    expect(github.comments).toHaveLength(2);
  });

  test('that a person wrote with our mark is left alone', async () => {
    github.comments.push(by('mallory', 'User', `${commentMark('echo')}\nforged`));
    await writeComment(client, place, bot, 'ours');
    expect(github.comments.map(({ body }) => body)).toEqual([
      expect.stringContaining('forged'),
      expect.stringContaining('ours'),
    ]);
  });

  test('with our mark quoted further below is left alone', async () => {
    github.comments.push(by('other[bot]', 'Bot', `> ${commentMark('echo')}`));
    await writeComment(client, place, bot, 'ours');
    expect(github.comments).toHaveLength(2);
  });

  test('a token of a person edits only what that person wrote', async () => {
    github.login = 'Alice';
    const author = await authorOf(client);
    expect(author).toEqual({ kind: 'login', login: 'Alice' });
    github.comments.push(
      by('other[bot]', 'Bot', `${commentMark('echo')}\ntheirs`),
      by('alice', 'User', `${commentMark('echo')}\nmine`),
    );
    await writeComment(client, place, author, 'new');
    expect(github.comments.map(({ body }) => String(body).split('\n')[1])).toEqual(['theirs', 'new']);
  });

  test('a token that may not ask who it is writes as some bot', async () => {
    expect(await authorOf(client)).toEqual(bot);
  });

  test('its mark cannot be ended by a name', () => {
    expect(commentMark('a--><script>')).toBe('<!-- landfall: a%2D%2D%3E%3Cscript%3E -->');
  });
});

describe('the status of a failure', () => {
  test('is that of an answer, and none where there was no answer', async () => {
    github.before = () => ({ status: 0, drop: true });
    const dropped = await writeCheck(client, at, 1, queued).catch((error: unknown) => error);
    expect(statusOf(dropped)).toBeUndefined();
    github.before = () => ({ status: 404, body: { message: 'Not Found' } });
    const missing = await writeCheck(client, at, 1, queued).catch((error: unknown) => error);
    expect(statusOf(missing)).toBe(404);
    expect(statusOf('nothing')).toBeUndefined();
  });
});
