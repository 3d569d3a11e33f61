import { describe, expect, test } from 'vitest';
import { rolloutAfter, rolloutOutOfTime, type RevisionObservation } from '../../../src/deploy/rules/rollout.ts';
import { rolloutOf } from '../../../src/deploy/machine/state.ts';
import { notesOnBuild } from '../../../src/deploy/words/note.ts';

const observation = (
  status: string,
  deployment?: RevisionObservation['deployment'],
  more: Partial<RevisionObservation['revision']> = {},
): RevisionObservation => ({
  at: 0,
  revision: { status, source_revision_config: {}, ...more },
  ...(deployment ? { deployment } : {}),
});
const serves = (activeRevisionId: string | null, latestRevisionId = 'r2', activeCreatedAt?: string) => ({
  activeRevisionId,
  latestRevisionId,
  activeCreatedAt,
});
/** The state of r2 after these observations, in order. */
const after = (...sights: RevisionObservation[]) =>
  sights.reduce((state, each, at) => rolloutAfter(state, { ...each, at }), rolloutOf('r2'));

test('a followed revision shows its hold, and that it was discarded', () => {
  const hold = { address: 'https://a/agents/d@r2', ends_at: null, decision: null };
  const held = { hold: { ...hold, ends_at: '2026-01-01T00:30:00Z' } };
  const states = [
    observation('BUILDING', undefined, { hold }),
    observation('DEPLOYING', undefined, held),
    observation('INTERRUPTED', undefined, { hold: { ...held.hold, decision: 'discarded' } }),
  ].map((_, index, all) => after(...all.slice(0, index + 1)));
  expect(states).toMatchObject([
    { kind: 'in-progress', hold: { kind: 'pending' } },
    { kind: 'in-progress', hold: { kind: 'held', address: hold.address, endsAt: '2026-01-01T00:30:00Z' } },
    { kind: 'interrupted', hold: { kind: 'discarded' } },
  ]);
});

test('a followed revision keeps what its build warned of', () => {
  const build_warnings = ['It lacks a file. Commit it.', 'There is no lock file'];
  const live = after(observation('DEPLOYING', undefined, { build_warnings }), observation('DEPLOYED', serves('r2')));
  expect(live).toMatchObject({ kind: 'live', buildWarnings: build_warnings });
  expect(notesOnBuild(live)).toEqual(build_warnings.map((warning) => ({ code: 'build-warning', warning })));
  expect(notesOnBuild({ buildWarnings: Array<string>(11).fill('a') })).toHaveLength(10);
});

describe('a followed revision', () => {
  test.each<[string, RevisionObservation[], string]>([
    ['was not seen yet', [], 'in-progress'],
    ['builds', [observation('BUILDING')], 'in-progress'],
    ['waits behind another', [observation('QUEUED')], 'in-progress'],
    ['is in an unknown state', [observation('BUILDING'), observation('PONDERING')], 'in-progress'],
    ['is UNKNOWN to the service itself', [observation('UNKNOWN')], 'in-progress'],
    ['is DEPLOYED and active', [observation('BUILDING'), observation('DEPLOYED', serves('r2'))], 'live'],
    ['is DEPLOYED, and the serving revision was not requested', [observation('DEPLOYED')], 'in-progress'],
    ['is DEPLOYED, and the former one still serves', [observation('DEPLOYED', serves('r1'))], 'in-progress'],
    ['is DEPLOYED, and nothing serves yet', [observation('DEPLOYED', serves(null))], 'in-progress'],
    ['is DEPLOYED, and the newest of all serves', [observation('DEPLOYED', serves('r3', 'r3'))], 'superseded'],
    ['is active, but not DEPLOYED', [observation('DEPLOYING', serves('r2'))], 'in-progress'],
    ['could not be created', [observation('CREATE_FAILED')], 'failed'],
    ['could not be built', [observation('BUILD_FAILED')], 'failed'],
    ['could not be deployed', [observation('DEPLOY_FAILED')], 'failed'],
    ['was skipped', [observation('SKIPPED')], 'superseded'],
    ['was interrupted', [observation('INTERRUPTED')], 'interrupted'],
    ['has ended once and for all', [observation('BUILD_FAILED'), observation('DEPLOYED', serves('r2'))], 'failed'],
    ['recovers from an unknown state', [observation('PONDERING'), observation('DEPLOYED', serves('r2'))], 'live'],
  ])('%s', (_, sights, kind) => expect(after(...sights).kind).toBe(kind));

  test.each<[string, string | undefined, string | undefined, string]>([
    ['a newer one serves', '2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z', 'superseded'],
    ['an older one still serves', '2026-01-01T10:00:00Z', '2026-01-01T09:00:00Z', 'in-progress'],
    ['one of the same moment serves', '2026-01-01T10:00:00Z', '2026-01-01T10:00:00Z', 'in-progress'],
    ['there are no creation times', undefined, undefined, 'in-progress'],
  ])('is DEPLOYED in the middle of a queue, and %s', (_, created_at, activeCreatedAt, kind) => {
    const queued = observation('DEPLOYED', serves('rx', 'r9', activeCreatedAt), created_at ? { created_at } : {});
    expect(after(queued).kind).toBe(kind);
  });
});

test('records every change of status with its time', () => {
  const state = after(
    observation('QUEUED'),
    observation('QUEUED'),
    observation('BUILDING'),
    observation('PONDERING'),
    observation('BUILDING'),
  );
  expect(state.seen).toEqual([
    { status: 'QUEUED', at: 0 },
    { status: 'BUILDING', at: 2 },
    { status: 'PONDERING', at: 3 },
    { status: 'BUILDING', at: 4 },
  ]);
});

test('counts earlier observations', () => {
  const state = rolloutAfter(rolloutOf('r2', [{ status: 'QUEUED', at: -5 }]), observation('QUEUED'));
  expect(state.seen).toEqual([{ status: 'QUEUED', at: -5 }]);
});

test('keeps the commit and the message if later responses lack them', () => {
  const reported = observation('BUILDING', undefined, {
    source_revision_config: { repo_commit_sha: 'abc' },
    status_message: 'step 1',
  });
  expect(after(reported, observation('BUILD_FAILED'))).toMatchObject({ builtCommit: 'abc', statusMessage: 'step 1' });
});

test('names the revision that superseded it', () => {
  expect(after(observation('SKIPPED', serves('r1', 'r3')))).toMatchObject({ by: 'r3' });
  expect(after(observation('SKIPPED', serves('r1', 'r2')))).not.toHaveProperty('by');
  expect(after(observation('DEPLOYED', serves('r3', 'r3')))).toMatchObject({ by: 'r3' });
});

describe('at the deadline', () => {
  test('an unfinished one reports the last observation', () => {
    expect(
      rolloutOutOfTime(after(observation('CREATING'), observation('QUEUED'), observation('BUILDING'))),
    ).toMatchObject({ kind: 'timed-out', seen: [{}, {}, { status: 'BUILDING' }] });
    expect(rolloutOutOfTime(after())).toMatchObject({ kind: 'timed-out', seen: [] });
  });

  test('a final state stays', () => {
    expect(rolloutOutOfTime(after(observation('SKIPPED'))).kind).toBe('superseded');
  });
});
