import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectGitHub, type ConnectedGitHub } from '../../src/action/github-connection.ts';
import { GitHubReporter } from '../../src/action/github-reporter.ts';
import type { RunReport } from '../../src/action/deployment-reports.ts';
import { withPullRequestHead } from '../../src/action/look-up-head.ts';
import type { Outcome } from '../../src/deploy/machine/outcome-types.ts';
import { LittleGitHub } from '../github/little-github.ts';

const run: RunReport = {
  mode: 'deploy',
  repositoryUrl: 'https://github.com/acme/agents',
  repository: { owner: 'acme', name: 'agents' },
  commit: 'c0ffee0000000000000000000000000000000001',
  externalId: '900-1 echo',
  name: 'echo',
  topic: 'echo',
  pullRequest: 12,
};
const deployed: Outcome = { kind: 'deployed', passes: true, reason: 'It is live.', changed: true, notes: [] };
const limited = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';

let github: LittleGitHub;
let address: string;
let client: ConnectedGitHub;
let warnings: string[];
let waits: number[];

beforeEach(async () => {
  github = new LittleGitHub();
  [warnings, waits] = [[], []];
  address = await github.start();
  client = connectGitHub(address, 'secret-token', { userAgent: 'test', env: {}, retry: { attempts: 1 } });
});
afterEach(async () => {
  await client.close();
  await github.stop();
});

const clock = {
  now: () => 0,
  sleep: (ms: number) => {
    waits.push(ms);
    return Promise.resolve();
  },
};
const report = () =>
  new GitHubReporter({ client, run, clock, warn: (message) => warnings.push(message) }).finish(deployed);

/** Refuses so many requests of a method. */
function refuse(method: string, times: number, message: string, headers: Record<string, string> = {}): void {
  let left = times;
  github.before = (requested) => {
    if (requested.method !== method || left === 0) return undefined;
    left -= 1;
    return { status: 403, body: { message }, headers };
  };
}

describe('a refusal of GitHub', () => {
  test.each(['Unable to create comment because issue is locked.', 'Repository was archived so is read-only.', limited])(
    'that is of no permission asks for none: %s',
    async (message) => {
      refuse('POST', Infinity, message);
      await report();
      expect(warnings).toEqual([expect.stringContaining(message.replace(/\.$/, ''))]);
      expect(warnings.join()).not.toMatch(/permissions|\.\./);
    },
  );

  test.each([
    ['the time that GitHub states', { 'retry-after': '7' }, 7_000],
    ['a minute where it states none', {}, 60_000],
  ])('for too many requests is tried again after %s', async (_, headers, ms) => {
    refuse('POST', 1, limited, headers);
    await report();
    expect(waits).toEqual([ms]);
    expect(github.comments).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['once', { 'retry-after': '40' }, [40_000]],
    ['not at all for an hour', { 'retry-after': '3600' }, []],
  ])('for too many requests is waited for %s, a minute at most', async (_, headers, waited) => {
    refuse('POST', Infinity, limited, headers);
    await report();
    expect(waits).toEqual(waited);
    expect(warnings).toHaveLength(1);
  });

  const resets = (seconds: number) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': '1800000000',
    date: new Date((1_800_000_000 - seconds) * 1_000).toUTCString(),
  });

  test('for want of requests of this hour is waited for until their reset', async () => {
    refuse('POST', 1, 'API rate limit exceeded for installation ID 5.', resets(20));
    await report();
    expect(waits).toEqual([21_000]);
    expect(github.comments).toHaveLength(1);
  });

  test('for want of requests until a later time is said with that time', async () => {
    refuse('POST', Infinity, 'API rate limit exceeded for installation ID 5.', resets(1_500));
    await report();
    expect(waits).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/rate limit exceeded.*takes requests again in 26 minutes/)]);
  });

  test("for too many requests does not hide a person's own comment", async () => {
    github.login = 'ann';
    github.comments.push({ id: 7, body: '<!-- landfall: echo -->\nold', user: { login: 'ann', type: 'User' } });
    refuse('GET', 1, limited, { 'retry-after': '1' });
    await report();
    expect(github.comments.map(({ id }) => id)).toEqual([7]);
  });

  test('to read the head of a pull request names the permission only where it lacks', async () => {
    const workflow = {
      repository: 'acme/agents',
      serverUrl: 'https://github.com',
      ref: '',
      sha: run.commit,
      pullRequest: 5,
    };
    const read = (message: string) => {
      refuse('GET', 1, message);
      return withPullRequestHead(workflow, client, (warning) => warnings.push(warning));
    };
    await read(limited);
    await read('Resource not accessible by integration');
    expect(warnings.map((each) => each.includes('pull-requests: read'))).toEqual([false, true]);
  });
});

describe('a repository that was renamed', () => {
  /** Answers as GitHub does for a former name: 301 to reads, 307 to writes. */
  const renamed = (origin: string) => {
    const former = '/repos/acme/agents/';
    github.before = (requested) => {
      if (requested.path.startsWith('/repositories/')) {
        requested.path = requested.path.replace('/repositories/5/', former);
        return undefined;
      }
      if (!requested.path.startsWith(former)) return undefined;
      const location = `${origin}/repositories/5/${requested.path.slice(former.length)}?${requested.query.toString()}`;
      return { status: requested.method === 'GET' ? 301 : 307, body: {}, headers: { location } };
    };
  };

  test('has its comment under its former name, written once', async () => {
    renamed(address);
    await report();
    await report();
    expect(warnings).toEqual([]);
    expect(github.comments).toHaveLength(1);
  });

  test('gives the token to no other server', async () => {
    renamed('http://127.0.0.1:1');
    await report();
    expect(warnings).toEqual([expect.stringContaining('no redirect is followed with a key')]);
  });
});
