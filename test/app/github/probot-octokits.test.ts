import { Probot } from 'probot';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AppOctokit, type OctokitFor } from '../../../app/github/installation-clients.ts';
import { octokitsOf } from '../../../app/github/probot-octokits.ts';
import { LittleGitHub } from '../../github/little-github.ts';
import { newPrivateKey } from '../settings/keys.ts';
import { SteppingClock } from './stepping-clock.ts';

const privateKey = newPrivateKey();
const lacking = { status: 403, body: { message: 'Resource not accessible by integration' } };

let github: LittleGitHub;
let clock: SteppingClock;
let octokitFor: OctokitFor;
let tokens: number;

beforeEach(async () => {
  github = new LittleGitHub();
  clock = new SteppingClock();
  tokens = 0;
  const baseUrl = await github.start();
  const settings = { appId: 7, privateKey, secret: 'of-the-webhooks', baseUrl, logLevel: 'fatal' } as const;
  octokitFor = octokitsOf(new Probot({ ...settings, Octokit: AppOctokit }), clock);
});
afterEach(() => github.stop());

/** Answers as GitHub does to a token of this number. */
function answer(toToken: (number: number) => ReturnType<LittleGitHub['before']>): void {
  github.before = ({ path }) => {
    if (!path.endsWith('/access_tokens')) return toToken(tokens);
    tokens += 1;
    // Older than the seconds in which an Octokit takes a 401 for a delay of GitHub's.
    const body = { token: `t${tokens}`, expires_at: new Date(Date.now() + 50 * 60_000).toISOString(), permissions: {} };
    return { status: 201, body };
  };
}

const write = async () => {
  const octokit = await octokitFor(3);
  const place = { owner: 'acme', repo: 'agents' };
  return octokit.request('POST /repos/{owner}/{repo}/check-runs', { ...place, name: 'x', head_sha: 'y' });
};

describe('the token of an installation', () => {
  test('is made anew where it lacks a permission, which may have been given since', async () => {
    answer((number) => (number === 1 ? lacking : undefined));
    expect((await write()).status).toBe(201);
    expect((await write()).status).toBe(201);
    expect(tokens).toBe(2);
  });

  test('is made anew once a minute at most', async () => {
    answer(() => lacking);
    const refused = () => expect(write()).rejects.toMatchObject({ status: 403 });
    await refused();
    await refused();
    expect(tokens).toBe(2);
    clock.pass(60_000);
    await refused();
    expect(tokens).toBe(3);
  });

  test('is kept where something else is refused', async () => {
    answer(() => ({ status: 403, body: { message: 'Repository was archived so is read-only.' } }));
    await expect(write()).rejects.toMatchObject({ status: 403 });
    expect(tokens).toBe(1);
  });
});
