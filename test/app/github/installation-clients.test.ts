import { loggerTo } from '../../logger.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { InstallationPaused } from '../../../app/github/github-api.ts';
import {
  AppOctokit,
  createInstallationClients,
  type InstallationClientOptions,
} from '../../../app/github/installation-clients.ts';
import { LittleGitHub, type Answered } from '../../github/little-github.ts';
import { SteppingClock } from './stepping-clock.ts';

let github: LittleGitHub;
let clock: SteppingClock;
let baseUrl: string;
let requested: (number | undefined)[];

beforeEach(async () => {
  github = new LittleGitHub();
  clock = new SteppingClock();
  requested = [];
  baseUrl = await github.start();
});
afterEach(() => github.stop());

const clients = (over: Partial<InstallationClientOptions> = {}) =>
  createInstallationClients({
    octokitFor: async (installationId) => {
      requested.push(installationId);
      return new AppOctokit({ auth: { token: `token-${installationId}` }, baseUrl });
    },
    clock,
    random: () => 1,
    ...over,
  });

const read = (client: ReturnType<ReturnType<typeof createInstallationClients>>) =>
  client.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'agents' });
const write = (client: ReturnType<ReturnType<typeof createInstallationClients>>) =>
  client.request('POST /repos/{owner}/{repo}/check-runs', { owner: 'acme', repo: 'agents', name: 'x', head_sha: 'y' });
const answers = (...list: (Answered | undefined)[]) => {
  github.before = () => list.shift();
};
const fine: Answered = { status: 200, body: { default_branch: 'main' } };

describe('sending', () => {
  test('gets an Octokit for every request, so that its token is fresh', async () => {
    answers(fine, fine);
    const client = clients()(7);
    await read(client);
    await read(client);
    expect(requested).toEqual([7, 7]);
  });

  test('retries a failed read, with growing delays', async () => {
    answers({ status: 502 }, { status: 0, drop: true }, { status: 500 }, fine);
    expect((await read(clients()(7))).data.default_branch).toBe('main');
    expect(clock.slept).toEqual([500, 1000, 2000]);
  });

  test('gives up a read after four attempts', async () => {
    github.before = () => ({ status: 503, body: { message: 'down' } });
    await expect(read(clients()(7))).rejects.toMatchObject({ name: 'GitHubApiError', status: 503, effect: 'none' });
    expect(github.requests).toHaveLength(4);
  });

  test('does not retry a refused read', async () => {
    answers({ status: 404, body: { message: 'Not Found' } });
    await expect(read(clients()(7))).rejects.toMatchObject({ name: 'GitHubApiError', status: 404 });
    expect(github.requests).toHaveLength(1);
  });

  test.each([
    ['502', { status: 502 }],
    ['a connection that broke', { status: 0, drop: true }],
  ])('sends a write once: %s leaves its effect unknown', async (_, answer) => {
    answers(answer);
    await expect(write(clients()(7))).rejects.toMatchObject({ name: 'GitHubApiError', effect: 'unknown' });
    expect(github.requests).toHaveLength(1);
  });

  test('aborts a request on timeout', async () => {
    clock.hangingFrom = 1_000;
    const silent = clients({
      timeoutMs: 900,
      octokitFor: async () => ({ request: () => new Promise(() => undefined) }),
    })(7);
    await expect(write(silent)).rejects.toMatchObject({
      name: 'GitHubApiError',
      effect: 'unknown',
      status: undefined,
      message: expect.stringContaining('no answer within 0.9 s'),
    });
  });

  test('limits each installation separately to one write per second', async () => {
    const clientOf = clients();
    const began = clock.now();
    await write(clientOf(7));
    await write(clientOf(8));
    expect(clock.now()).toBe(began);
    await write(clientOf(7));
    expect(clock.now()).toBe(began + 1000);
  });

  test('leaves a quarter of the requests of an hour to what is no pull request', async () => {
    const headers = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '1249', 'x-ratelimit-reset': '9999999999' };
    github.before = () => ({ ...fine, headers });
    const clientOf = clients();
    await read(clientOf(7, 'strangers'));
    await expect(read(clientOf(7, 'strangers'))).rejects.toMatchObject({ name: 'InstallationPaused' });
    expect((await read(clientOf(7))).data.default_branch).toBe('main');
    await read(clientOf(8, 'strangers'));
    expect(github.requests).toHaveLength(3);
  });

  test('a write with a long wait is left to its job', async () => {
    const clientOf = clients({ limits: { betweenWritesMs: 20_000, maxCreatedPerMinute: 80, maxCreatedPerHour: 500 } });
    const began = clock.now();
    await write(clientOf(7));
    await expect(write(clientOf(7))).rejects.toMatchObject({ name: 'InstallationPaused', until: began + 20_000 });
  });
});

describe('a limit of GitHub', () => {
  test('pauses only its own installation, and sends nothing for it meanwhile', async () => {
    const clientOf = clients();
    answers({ status: 403, headers: { 'retry-after': '120' }, body: { message: 'secondary rate limit' } }, fine);
    const paused = await read(clientOf(7)).catch((error: unknown) => error);
    expect(paused).toBeInstanceOf(InstallationPaused);
    expect(paused).toMatchObject({ installationId: 7, until: clock.now() + 120_000 });
    await expect(read(clientOf(7))).rejects.toBeInstanceOf(InstallationPaused);
    await expect(write(clientOf(7))).rejects.toBeInstanceOf(InstallationPaused);
    await read(clientOf(8));
    expect(github.requests).toHaveLength(2);
    clock.pass(120_000);
    answers(fine);
    await read(clientOf(7));
  });

  test('applies at the limit: the last request of an hour succeeds, the next waits', async () => {
    const clientOf = clients();
    const reset = Math.floor(clock.now() / 1000) + 900;
    const date = new Date(clock.now()).toUTCString();
    answers({ ...fine, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset), date } });
    await read(clientOf(7));
    await expect(read(clientOf(7))).rejects.toMatchObject({ until: clock.now() + 900_000 });
  });

  test('without a stated time lasts longer each time', async () => {
    const clientOf = clients();
    github.before = () => ({ status: 429, body: { message: 'secondary rate limit' } });
    const lengths: number[] = [];
    for (let n = 0; n < 3; n += 1) {
      const error = await read(clientOf(7)).catch((each: unknown) => each);
      if (!(error instanceof InstallationPaused)) throw error;
      lengths.push(error.until - clock.now());
      clock.pass(error.until - clock.now());
    }
    expect(lengths).toEqual([60_000, 120_000, 240_000]);
  });

  test('is logged for the operator', async () => {
    const stated: string[] = [];
    answers({ status: 429, headers: { 'retry-after': '5' }, body: { message: 'slow down' } });
    await read(clients({ log: loggerTo((line) => stated.push(line)) })(7)).catch(() => undefined);
    expect(stated).toEqual(['GitHub paused installation 7 until 2026-01-05T08:00:05.000Z: slow down']);
  });
});
