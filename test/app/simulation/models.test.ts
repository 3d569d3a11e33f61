import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { randomFrom } from '../../random-from.ts';
import { EventClock } from './event-clock.ts';
import { Faults } from './faults.ts';
import { ModelControl } from './model-control.ts';
import type { Offers } from './offers.ts';
import { ModelGit } from './model-git.ts';
import { ModelHub } from './model-hub.ts';
import { ModelJobs } from './model-jobs.ts';
import { ModelProcess } from './model-process.ts';

const all: Offers = { idempotencyKeys: true, ifMatch: true, lists: true };
const restate = { source_revision_config: { repo_ref: 'main' } };
const minutes = 60_000;

function fixture(offers: Offers = all) {
  const clock = new EventClock();
  const git = new ModelGit(() => clock.now());
  const change = (fate: 'good' | 'build-fails' = 'good') =>
    git.commit('main', { message: 'Change', paths: ['a.py'], fate });
  const first = change();
  const control = new ModelControl(clock, git, randomFrom(1), offers);
  const held = control.add('d1000000-0000-4000-8000-000000000000', 'main');
  const pass = (ms: number) => clock.run(clock.now() + ms);
  return { clock, git, control, held, id: held.id, change, first, pass };
}

const refusalOf = (requested: Promise<unknown>): Promise<ServiceError | undefined> =>
  requested.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ServiceError) return error;
      throw error;
    },
  );

describe('the model of the control service', () => {
  test('builds the head at the start of the build, and serves it', async () => {
    const { control, held, id, change, pass } = fixture();
    await pass(5 * minutes);
    await control.patchDeployment(id, restate);
    const newer = change();
    await pass(5 * minutes);
    expect(held.all.map(({ status }) => status)).toEqual(['DEPLOYED', 'DEPLOYED']);
    expect(held.active?.commit).toBe(newer);
  });

  test('builds one revision at a time, and skips all waiting ones but the newest', async () => {
    const { control, held, id, pass } = fixture();
    await pass(5_000);
    for (let nth = 0; nth < 3; nth += 1) await control.patchDeployment(id, restate);
    await pass(5 * minutes);
    expect(held.all.map(({ status }) => status)).toEqual(['DEPLOYED', 'SKIPPED', 'SKIPPED', 'DEPLOYED']);
    expect(held.all[1]?.message).toContain(held.all[3]?.id);
  });

  test('a failed build leaves the previous revision live', async () => {
    const { control, held, id, first, change, pass } = fixture();
    await pass(5 * minutes);
    change('build-fails');
    await control.patchDeployment(id, restate);
    await pass(5 * minutes);
    expect([held.latest?.status, held.active?.commit]).toEqual(['BUILD_FAILED', first]);
  });

  test('the same key makes one revision and the same response; a new request is refused', async () => {
    const { control, held, id, pass } = fixture();
    await pass(5 * minutes);
    const one = await control.patchDeployment(id, restate, { idempotencyKey: 'k' });
    await control.patchDeployment(id, restate);
    const again = await control.patchDeployment(id, restate, { idempotencyKey: 'k' });
    expect(again.latest_revision_id).toBe(one.latest_revision_id);
    expect(held.all).toHaveLength(3);
    const other = control.redeployRevision(id, held.all[0]?.id ?? '', { idempotencyKey: 'k' });
    await expect(other).rejects.toMatchObject({ status: 422 });
  });

  test.each([
    ['is refused if the service honours If-Match', true, 412, 2],
    ['is applied otherwise', false, undefined, 3],
  ] as const)('a change based on an older revision %s', async (_, ifMatch, status, revisions) => {
    const { control, held, id, pass } = fixture({ ...all, ifMatch });
    await pass(5 * minutes);
    const former = held.latest?.id;
    await control.patchDeployment(id, restate);
    const refusal = await refusalOf(control.patchDeployment(id, restate, { ifLatest: former }));
    expect([refusal?.status, held.all.length]).toEqual([status, revisions]);
  });
});

describe('a process of the model', () => {
  test('one that is cut off does nothing more, and another takes its job', async () => {
    const { clock, git } = fixture();
    const githubApi = new ModelHub(git);
    const reported: string[] = [];
    const jobs = new ModelJobs(clock, async (_job, process) => {
      try {
        await process.reaching('githubApi', githubApi).defaultBranch();
        reported.push(`${process.name} is done`);
      } finally {
        reported.push(`${process.name} tidies up`);
      }
    });
    const first = new ModelProcess('first', clock, new Faults(), randomFrom(2));
    jobs.join(first);
    first.cutAt({ nth: 1, phase: 'after' });
    jobs.send('lane', 'd1');
    await clock.run(clock.now() + 10_000);
    jobs.join(new ModelProcess('second', clock, new Faults(), randomFrom(3)));
    await clock.run(clock.now() + 60_000);
    expect(reported).toEqual(['second is done', 'second tidies up']);
    expect(jobs.count).toBe(0);
  });

  test.each([
    ['lost-before', undefined, 0],
    ['lost-after', undefined, 1],
    ['broken-after', 502, 1],
  ] as const)('a response that is %s has status %s, and its request applies %i times', async (kind, status, done) => {
    const { clock, control, held, id, pass } = fixture();
    await pass(5 * minutes);
    const faults = new Faults();
    faults.lay({ party: 'control', operation: 'patchDeployment', nth: 1, kind });
    const reached = new ModelProcess('app', clock, faults, randomFrom(2)).reaching('control', control);
    const requested = refusalOf(reached.patchDeployment(id, restate));
    await pass(10_000);
    expect(await requested).toMatchObject({ status, effect: 'unknown' });
    expect(held.all).toHaveLength(1 + done);
  });
});
