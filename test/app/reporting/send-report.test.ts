import { silentLogger } from '../../../src/kit/logger.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  GitHubApiError,
  InstallationPaused,
  type CheckContent,
  type DeploymentContent,
} from '../../../app/github/github-api.ts';
import { laterJobId, workOnReport } from '../../../app/reporting/report-job.ts';
import {
  betweenEditsMs,
  localReportLocks,
  dueAt,
  heartbeatMs,
  sendReport,
  type ReportingContext,
} from '../../../app/reporting/send-report.ts';
import { nothingToDeploy, putCommitCheck } from '../../../app/events/commit-check.ts';
import { emptyComment, isLastCommentRefused, putComment } from '../../../app/pull-requests/comment.ts';
import { commentReport, commitCheckName, type DesiredReport } from '../../../app/reconcile/report.ts';
import { start } from '../reconcile/requests.ts';
import { SteppingClock } from '../github/stepping-clock.ts';
import { aPullRequest } from '../github/a-pull-request.ts';
import { MemoryStore } from '../reconcile/memory-store.ts';
import { anIntent, commit } from '../an-intent.ts';

const { repository } = anIntent('requested');
const open: CheckContent = { status: 'in_progress', title: 'Builds', summary: 'It builds.' };
const done: CheckContent = { status: 'completed', conclusion: 'success', title: 'Live', summary: 'It is live.' };
const check = (content: CheckContent): DesiredReport => ({
  kind: 'check',
  repository,
  headSha: commit,
  name: 'Landfall: echo',
  wanted: { kind: 'check', content },
});
const deployment = (state: DeploymentContent['state']): DesiredReport => ({
  kind: 'deployment',
  repository,
  headSha: commit,
  name: 'intent-1',
  wanted: {
    kind: 'deployment',
    content: { environment: 'production', production: true, transient: false, state, description: state },
  },
});

let clock: SteppingClock;
let store: MemoryStore;
let said: string[];
let fails: (Error | undefined)[];
let context: ReportingContext;
let id: string;

async function put(report: DesiredReport): Promise<void> {
  await store.putReport(report);
  id = (await store.reportOf(repository.repositoryId, commit, report.name))?.id ?? '';
}

beforeEach(() => {
  clock = new SteppingClock();
  store = new MemoryStore({ now: () => clock.now() });
  said = [];
  fails = [];
  const say = (words: string): void => {
    const error = fails.shift();
    if (error) throw error;
    said.push(words);
  };
  context = {
    clock,
    store,
    random: () => 0.5,
    log: silentLogger,
    reportLocks: localReportLocks(),
    githubApi: {
      head: async () => undefined,
      compare: async () => ({ kind: 'identical' }),
      file: async () => undefined,
      checksOf: async () => ({ seen: [] }),
      environmentProtection: async () => ({ kind: 'none' }),
      membershipOf: async () => 'other',
      peopleOf: async () => [],
      requiredChecks: async () => [],
      defaultBranch: async () => 'main',
      permissionOf: async () => 'none',
      writeCheck: async ({ externalId }, known, { status, annotations = [] }) => {
        say(`check ${externalId === id ? 'ours' : externalId} ${known ?? 'new'} ${status} +${annotations.length}`);
        return 11;
      },
      makeDeployment: async () => {
        say('make');
        return 22;
      },
      writeDeploymentStatus: async (_, known, { state }) => say(`status ${known} ${state}`),
      pullRequest: async () => aPullRequest(commit),
      writeComment: async ({ number }, known, body) => {
        say(`comment ${number} ${known ?? 'new'} ${body}`);
        return 33;
      },
      react: async () => undefined,
    },
  };
});

describe('sending a check', () => {
  test('happens once per version', async () => {
    await put(check(open));
    expect(await sendReport(id, context)).toEqual({});
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toEqual(['check ours new in_progress +0']);
    expect(await store.report(id)).toMatchObject({
      githubId: 11,
      reportedVersion: 1,
      reported: { state: 'in_progress' },
    });
  });

  test('skips a removed report', async () => {
    expect(await sendReport('00000000-0000-4000-8000-000000000000', context)).toEqual({});
  });

  test('other text of the same state waits for the heartbeat, an outcome does not', async () => {
    await put(check(open));
    await sendReport(id, context);
    const first = clock.now();
    clock.pass(1000);
    await put(check({ ...open, title: 'Still builds' }));
    expect(await sendReport(id, context)).toEqual({ again: first + heartbeatMs });
    await put(check(done));
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toEqual(['check ours new in_progress +0', 'check ours 11 completed +0']);
  });

  test('sends the heartbeat when it is due', async () => {
    await put(check(open));
    await sendReport(id, context);
    await put(check({ ...open, title: 'Still builds' }));
    clock.pass(heartbeatMs);
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toHaveLength(2);
  });

  test('a change of state is sent at once', async () => {
    await put(check({ ...open, status: 'queued' }));
    await sendReport(id, context);
    await put(check(open));
    await sendReport(id, context);
    expect(said).toHaveLength(2);
  });

  test('a newer version, stored while one was sent, is sent next', async () => {
    await put(check(open));
    const githubApi = { ...context.githubApi };
    context.githubApi.writeCheck = async (...requested) => {
      context.githubApi = githubApi;
      await store.putReport(check(done));
      return githubApi.writeCheck(...requested);
    };
    expect(await sendReport(id, context)).toEqual({ again: clock.now() });
    await sendReport(id, context);
    expect(said.at(-1)).toBe('check ours 11 completed +0');
  });

  test('annotations that were all sent are not read again', async () => {
    const annotations = [{ path: 'a', startLine: 1, endLine: 1, level: 'notice', message: 'm' }] as const;
    await put(check({ ...done, annotations }));
    await sendReport(id, context);
    await put(check({ ...done, title: 'Other', annotations }));
    await sendReport(id, context);
    expect(said).toEqual(['check ours new completed +1', 'check ours 11 completed +0']);
  });
});

describe('a failure', () => {
  test('of a paused installation is retried after the pause, and nothing is lost', async () => {
    await put(check(done));
    fails = [new InstallationPaused(7, clock.now() + 90_000, 'slow down')];
    expect(await sendReport(id, context)).toEqual({ again: clock.now() + 90_000 });
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toHaveLength(1);
  });

  test.each([
    ['no answer', new GitHubApiError('no answer', undefined, 'unknown')],
    ['a server error', new GitHubApiError('GitHub answered 502', 502, 'unknown')],
  ])('%s is retried later, with a pause', async (_, error) => {
    await put(check(done));
    fails = [error];
    const { again = 0 } = await sendReport(id, context);
    expect(again - clock.now()).toBeGreaterThanOrEqual(15_000);
    expect((await store.report(id))?.reportedVersion).toBe(0);
  });

  test.each([404, 403, 401, 422, 409])('a refusal (%i) fails the job, so that it stays to be seen', async (status) => {
    await put(check(done));
    fails = [new GitHubApiError(`GitHub answered ${status}`, status, 'none')];
    await expect(sendReport(id, context)).rejects.toMatchObject({ status });
    expect((await store.report(id))?.reportedVersion).toBe(0);
  });

  test('two that send the same report at once make one check run', async () => {
    await put(check(done));
    const { promise, resolve } = Promise.withResolvers<void>();
    const githubApi = { ...context.githubApi };
    context.githubApi.writeCheck = async (...requested) => {
      await promise;
      return githubApi.writeCheck(...requested);
    };
    const first = sendReport(id, context);
    expect(await sendReport(id, context)).toEqual({ again: clock.now() + 5000 });
    resolve();
    await first;
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toHaveLength(1);
  });

  test('looks for an existing check after a crash before the response was stored', async () => {
    await put(check(done));
    const killed = { ...context, step: () => Promise.reject(new Error('killed')) };
    await expect(sendReport(id, killed)).rejects.toThrow('killed');
    await sendReport(id, { ...context });
    // Without the id the hub finds the check run by our external id.
    expect(said).toEqual(['check ours new completed +0', 'check ours new completed +0']);
  });
});

describe('sending a deployment', () => {
  test('makes it once and writes every state', async () => {
    for (const state of ['queued', 'in_progress', 'success'] as const) {
      await put(deployment(state));
      await sendReport(id, context);
    }
    expect(said).toEqual(['make', 'status 22 queued', 'status 22 in_progress', 'status 22 success']);
  });

  test('a superseded one that was never reported is not made', async () => {
    await put(deployment('inactive'));
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toEqual([]);
    expect((await store.report(id))?.reportedVersion).toBe(1);
  });
});

describe('sending a comment', () => {
  const pull = { repository, number: 7 };
  const putPart = async (section: 'preview' | 'answer', markdown: string): Promise<void> => {
    await putComment(store, pull, section, markdown);
    const { headSha, name } = commentReport(pull, {});
    id = (await store.reportOf(repository.repositoryId, headSha, name))?.id ?? '';
  };

  test('creates it with the first part, and edits it with the next', async () => {
    await putPart('answer', 'Done.');
    await sendReport(id, context);
    await putPart('preview', 'Open it.');
    expect(await sendReport(id, context)).toEqual({ again: clock.now() + betweenEditsMs });
    clock.pass(betweenEditsMs);
    await sendReport(id, context);
    expect(said).toEqual(['comment 7 new Done.', 'comment 7 33 Open it.\n\nDone.']);
  });

  test('writes nothing where no part says anything', async () => {
    await putPart('preview', '');
    expect(await sendReport(id, context)).toEqual({});
    expect(said).toEqual([]);
  });

  test('says so where its last part is removed', async () => {
    await putPart('preview', 'Open it.');
    await sendReport(id, context);
    await putPart('preview', '');
    clock.pass(betweenEditsMs);
    await sendReport(id, context);
    expect(said.at(-1)).toBe(`comment 7 33 ${emptyComment}`);
  });

  test('looks for it after a crash before its id was stored', async () => {
    await putPart('answer', 'Done.');
    const killed = { ...context, step: () => Promise.reject(new Error('killed')) };
    await expect(sendReport(id, killed)).rejects.toThrow('killed');
    await sendReport(id, context);
    // Without the id, GitHub's client finds it by its mark and its author.
    expect(said).toEqual(['comment 7 new Done.', 'comment 7 new Done.']);
  });

  test.each([403, 410, 422])('a refusal (%i) is noted on the check of the head, once', async (status) => {
    await putCommitCheck(context, { repository, headSha: commit }, nothingToDeploy('it is a test', [], start));
    await putPart('answer', 'Done.');
    fails = [new GitHubApiError('Resource not accessible by integration', status, 'none')];
    expect(await sendReport(id, context)).toEqual({});
    expect(await sendReport(id, context)).toEqual({});
    const noted = await store.reportOf(repository.repositoryId, commit, commitCheckName);
    expect(noted?.wanted.content).toMatchObject({ summary: expect.stringContaining('could not comment') });
    expect(await isLastCommentRefused(store, pull)).toBe(true);
    await putPart('answer', 'Done again.');
    clock.pass(betweenEditsMs);
    await sendReport(id, context);
    expect(said).toEqual(['comment 7 new Done again.']);
    expect(await isLastCommentRefused(store, pull)).toBe(false);
  });

  test.each([404, 401])('another refusal (%i) fails the job, so that it stays to be seen', async (status) => {
    await putPart('answer', 'Done.');
    fails = [new GitHubApiError(`GitHub answered ${status}`, status, 'none')];
    await expect(sendReport(id, context)).rejects.toMatchObject({ status });
  });
});

describe('when a report is due', () => {
  const reported = { state: 'in_progress' };
  test.each([
    ['a first word: at once', { wanted: { kind: 'check', content: open } }, 0],
    [
      'the same state: a heartbeat later',
      { wanted: { kind: 'check', content: open }, reported, reportedAt: 1000 },
      16_000,
    ],
    ['an end: at once', { wanted: { kind: 'check', content: done }, reported, reportedAt: 1000 }, 0],
    ['a deployment: at once', { wanted: deployment('in_progress').wanted, reported, reportedAt: 1000 }, 0],
  ] as const)('%s', (_, report, expected) => expect(dueAt(report)).toBe(expected));
});

describe('the job', () => {
  test('schedules one follow-up, however many requested it', async () => {
    const sent: unknown[] = [];
    const send = async (data: object, options: object) => void sent.push({ data, ...options });
    await put(check(done));
    fails = [
      new InstallationPaused(7, clock.now() + 90_400, 'x'),
      new InstallationPaused(7, clock.now() + 90_600, 'x'),
    ];
    await workOnReport({ id }, context, send);
    await workOnReport({ id }, context, send);
    const at = clock.now() + 91_000;
    const expected = { data: { id, at }, id: laterJobId(id, at), startAfter: new Date(at) };
    expect(sent).toEqual([expected, expected]);
    await workOnReport({ id }, context, send);
    expect(sent).toHaveLength(2);
  });

  test("is never scheduled for its own time, even if two machines' clocks differ", async () => {
    const sent: object[] = [];
    await put(check(done));
    const at = clock.now() + 91_000;
    fails = [new InstallationPaused(7, at, 'x')];
    await workOnReport({ id, at }, context, async (data) => void sent.push(data));
    expect(sent).toEqual([{ id, at: at + 1000 }]);
  });

  test('has the same uuid for the same report and time', () => {
    expect(laterJobId('a', 1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(laterJobId('a', 1)).toBe(laterJobId('a', 1));
    expect(laterJobId('a', 1)).not.toBe(laterJobId('a', 2));
  });
});

describe('a lock', () => {
  test('is released when the work fails', async () => {
    const locks = localReportLocks();
    await expect(locks.exclusively('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await locks.exclusively('a', async () => 1)).toEqual({ value: 1 });
  });
});
