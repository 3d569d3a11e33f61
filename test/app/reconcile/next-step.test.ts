import { describe, expect, test } from 'vitest';
import type { Cause } from '../../../app/reconcile/deploy-request.ts';
import type { Intent, IntentFields, IntentState } from '../../../app/reconcile/intent.ts';
import { nextStep, runningOf, type BusyIntent } from '../../../app/reconcile/next-step.ts';
import { sortRequests } from '../../../app/reconcile/take-requests.ts';
import type { DeploymentQueue } from '../../../app/reconcile/store.ts';
import { anIntent } from '../an-intent.ts';
import { commitOf, start } from './requests.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const free: DeploymentQueue = { deploymentId: 'deployment-1' };
const held: DeploymentQueue = { ...free, held: { since: start } };
const back = { kind: 'redeploy', revisionId: 'r1' } as const;

const named = <S extends IntentState>(commit: string, state: S, fields: Partial<IntentFields> = {}) =>
  anIntent(state, { id: state, commit, ...fields });
const causedBy = (kind: Cause['kind'], key = 'once') => ({ cause: { kind, key, at: start } });

const requested = named(b, 'requested');
const waiting = named(b, 'waiting');
const heldBack = named(b, 'paused');
const sending = named(a, 'sending');
const expecting = named(a, 'expecting');
const measuring = named(a, 'measuring');
const following = named(a, 'following');
const testing = named(a, 'testing');
const judged = named(a, 'concluding');
const broken = named(a, 'concluding', { id: 'broken', verdict: { kind: 'failed', tests: [] } });
const undone = named(a, 'undoing', { id: 'broken', verdict: { kind: 'failed', tests: [] } });
const due = { ...undone, verdictDueAt: start };
const wayBack = <S extends IntentState>(state: S) =>
  named(a, state, { id: 'way-back', sending: back, ...causedBy('failure', 'broken') });
const undoing = wayBack('requested');
const requestedAction = named(a, 'requested', { id: 'requested-action', sending: back, ...causedBy('rollback') });

const inWords = (step: ReturnType<typeof nextStep>): string => {
  if (step.kind === 'requeue') return step.until === undefined ? 'requeue' : `rest ${step.until} ms`;
  if (step.kind === 'requests') return step.busyWith ? `requests beside ${step.busyWith.id}` : 'requests';
  return `${step.kind} ${step.kind === 'promote' ? step.intentId : step.intent.id}`;
};

type Case = [string, string, readonly Intent[], DeploymentQueue?, [string, number][]?];

const cases: Case[] = [
  ['is idle if nothing is open', 'requeue', []],
  ['decides a push if the deployment is free', 'requests', [requested]],
  ['resolves a request that may have been sent before any new one', 'resolve sending', [requested, sending]],
  ['follows a revision before sorting requests', 'follow following', [following, requested]],
  [
    'sorts new requests while the revision is idle',
    'requests beside following',
    [following, requested],
    free,
    [['following', 5]],
  ],
  ['leaves waiting requests alone while another is built', 'rest 5 ms', [following, waiting], free, [['following', 5]]],
  ['takes up what waits when the deployment is free', 'requests', [waiting]],
  ['measures the live revision while nothing runs', 'measure measuring', [measuring]],
  ['but sorts a newer push first', 'requests', [measuring, requested]],
  ['also one that waits', 'requests', [measuring, waiting]],
  ['or rolls back first', 'roll-back requested-action', [measuring, requestedAction]],
  ['nor while a rollback waits', 'rest 5 ms', [measuring, requestedAction], free, [['requested-action', 5]]],
  ['nor beside what is in progress', 'rest 5 ms', [measuring, following], free, [['following', 5]]],
  ['nor while another is undone', 'roll-back way-back', [measuring, undone, undoing]],
  ['tests a live revision', 'smoke testing', [testing, waiting]],
  ['sets its outcome once it is judged', 'conclude concluding', [judged, waiting]],
  ['sets the outcome of a failed test', 'conclude broken', [broken]],
  ['decides its rollback before every push', 'roll-back way-back', [undone, waiting, undoing]],
  ['only sorts pushes that arrive meanwhile', 'requests beside broken', [undone, undoing, requested]],
  ['starts none while the rollback is in progress', 'follow way-back', [undone, wayBack('following'), waiting]],
  ['nor while the rollback waits', 'rest 9 ms', [undone, undoing, waiting], free, [['way-back', 9]]],
  ['reports its verdict once the rollback is sent', 'report-verdict broken', [due, wayBack('following')]],
  ['but sends the rollback first', 'roll-back way-back', [due, undoing]],
  ['and finds out whether it was sent', 'resolve way-back', [due, wayBack('sending')]],
  [
    'and goes on while the service does not take it',
    'follow way-back',
    [due, wayBack('following')],
    free,
    [['broken', 5]],
  ],
  ['decides its rollback that waits', 'roll-back way-back', [undone, wayBack('waiting')]],
  [
    'starts no rollback while a revision is followed',
    'rest 5 ms',
    [following, undone, undoing],
    free,
    [['following', 5]],
  ],
  [
    'sets the outcome where another revision is rolled back',
    'conclude broken',
    [broken, { ...undoing, cause: { ...undoing.cause, key: 'other' } }],
  ],
  ['leaves requests alone that are deferred', 'rest 5 ms', [requested], free, [['requests', 5]]],
  [
    'keeps waiting pushes behind a requested rollback that is deferred',
    'rest 5 ms',
    [waiting, requestedAction],
    free,
    [['requested-action', 5]],
  ],
  [
    'looks for an expected revision while another is idle',
    'expect expecting',
    [following, expecting],
    free,
    [['following', 5]],
  ],
  ['a requested rollback precedes waiting pushes', 'roll-back requested-action', [waiting, requestedAction]],
  ['also while it waits', 'roll-back waiting', [waiting, { ...requestedAction, id: 'waiting', state: 'waiting' }]],
  ['but not what is in progress', 'follow following', [following, requestedAction]],
  ['a held push needs nothing while the deployment is held', 'requeue', [heldBack], held],
  ['and is taken up after the hold', 'requests', [heldBack], free],
  ['looks for a revision that the service should make', 'expect expecting', [expecting]],
  ['but decides a newer push first', 'requests', [expecting, requested]],
  [
    'continues at the first due time',
    'rest 3 ms',
    [expecting, waiting],
    free,
    [
      ['requests', 7],
      ['expecting', 3],
    ],
  ],
  ['ignores deferred times of ended intents', 'requeue', [], free, [['gone', 4]]],
];

test.each(cases)('%s', (_, expected, open, deploymentQueue = free, deferred = []) => {
  expect(inWords(nextStep(deploymentQueue, open, new Map(deferred)))).toBe(expected);
});

test('a live revision that is being rolled back does not keep the deployment busy', () => {
  expect(runningOf([broken])).toBe(broken);
  expect(runningOf([undone, undoing])).toBeUndefined();
});

describe('sorted by the head', () => {
  const rerun = named(b, 'requested', { id: 'rerun', ...causedBy('rerun') });
  const redeploy = named(b, 'requested', { id: 'redeploy', ...causedBy('redeploy') });
  const old = named(a, 'requested', { id: 'old' });
  const reported = (open: readonly Intent[], busyWith?: BusyIntent) => {
    const { stale, outdated, joined, first, lacksHead } = sortRequests(open, b, busyWith);
    return {
      stale: stale.map(({ id }) => id),
      ...(outdated.length > 0 ? { outdated: outdated.map(({ id }) => id) } : {}),
      joined: joined.map(({ intent, to }) => `${intent.id} to ${to.id}`),
      first: first?.id,
      lacksHead,
    };
  };

  test.each([
    [
      'of several pushes of the head the first counts',
      [requested, waiting],
      undefined,
      { stale: [], joined: ['waiting to requested'], first: 'requested', lacksHead: false },
    ],
    [
      'a Re-run of it counts before pushes',
      [requested, rerun],
      undefined,
      { stale: [], joined: ['requested to rerun'], first: 'rerun', lacksHead: false },
    ],
    [
      'a Redeploy counts before all',
      [rerun, redeploy],
      undefined,
      { stale: [], joined: ['rerun to redeploy'], first: 'redeploy', lacksHead: false },
    ],
    [
      'a confirmed commit that is not the head is outdated, and the head needs no request for it',
      [{ ...old, cause: { ...old.cause, kind: 'redeploy' as const, isPinned: true as const } }],
      undefined,
      { stale: [], outdated: ['old'], joined: [], first: undefined, lacksHead: false },
    ],
    [
      'other commits are stale, and the head needs a request',
      [old],
      undefined,
      { stale: ['old'], joined: [], first: undefined, lacksHead: true },
    ],
    [
      'a request that the service should carry out is stale as well',
      [expecting],
      undefined,
      { stale: ['expecting'], joined: [], first: undefined, lacksHead: true },
    ],
    [
      'the one that is measured for comes before a Redeploy',
      [redeploy, { ...measuring, commit: b }],
      undefined,
      { stale: [], joined: ['redeploy to measuring'], first: 'measuring', lacksHead: false },
    ],
    [
      'one of another commit is stale while it is measured for',
      [measuring, requested],
      undefined,
      { stale: ['measuring'], joined: [], first: 'requested', lacksHead: false },
    ],
    [
      'neither sent requests nor rollbacks are sorted',
      [following, requestedAction],
      undefined,
      { stale: [], joined: [], first: undefined, lacksHead: false },
    ],
    [
      'a request for the commit being built is reported with it',
      [requested],
      { ...following, commit: b },
      { stale: [], joined: ['requested to following'], first: undefined, lacksHead: false },
    ],
    [
      'but not if another commit was built',
      [requested],
      { ...following, commit: b, rollout: { ...following.rollout, builtCommit: a } },
      { stale: [], joined: [], first: 'requested', lacksHead: false },
    ],
    [
      'nor if that is a rollback',
      [requested],
      { ...following, commit: b, sending: back },
      { stale: [], joined: [], first: 'requested', lacksHead: false },
    ],
  ])('%s', (_, open, busyWith, expected) => {
    expect(reported(open, busyWith)).toEqual(expected);
  });
});
