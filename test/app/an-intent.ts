import type { Intent, IntentFields, IntentOutcome, IntentState } from '../../app/reconcile/intent.ts';
import { terms } from './reconcile/requests.ts';
import { rolloutOf } from '../../src/deploy/machine/state.ts';

/** A commit, as long as a real one. */
export const commit = 'c0ffee0000000000000000000000000000000001';
export const newer = 'decade0000000000000000000000000000000002';

/** When the intents of these tests were made (ms since the epoch). */
export const morning = Date.parse('2026-01-05T08:00:00Z');

const header = {
  id: '6f1c8f0e-7f3e-4b8a-9a31-0f0a0d3d9a01',
  seq: 1,
  deploymentId: 'd1',
  repository: { installationId: 7, repositoryId: 70, owner: 'acme', name: 'agents' },
  branch: 'main',
  commit,
  cause: { kind: 'push', key: 'guid-1', at: morning },
  terms: { ...terms, deploymentName: 'echo' },
  sending: { kind: 'restate', repoRef: 'main' },
  createdAt: morning,
  updatedAt: morning,
} as const;

const deadline = morning + 60_000;
const revisionId = 'r2';
const bound = { revisionId, how: 'triggered', former: {}, rollout: rolloutOf(revisionId) } as const;
const tested = { ...bound, verdict: { kind: 'passed', tests: [] } } as const;

/** What an intent has at least in each state. */
const least: Record<IntentState, Partial<IntentFields>> = {
  requested: {},
  waiting: {},
  paused: {},
  measuring: {
    live: { revisionId: 'r1', address: 'https://agent.test', until: deadline, rounds: 1, notes: [], answers: [] },
  },
  expecting: { former: {}, deadline },
  sending: { former: {}, deadline, sentAt: morning, sends: 1 },
  following: { ...bound, deadline },
  testing: bound,
  deciding: { ...tested, hold: { address: 'https://held.test', endsAt: '2026-01-05T09:00:00Z' } },
  concluding: tested,
  undoing: tested,
  ended: { end: { kind: 'unknown', reason: 'It ended.', at: deadline } },
};

/** An intent of a push to main on the deployment `echo`. */
export function anIntent<S extends IntentState>(
  state: S,
  fields: Partial<IntentFields> = {},
): Extract<Intent, { state: S }> {
  const intent: IntentFields = { ...header, ...least[state], ...fields, state };
  if (!isIn(intent, state)) throw new Error(`an intent is not ${state}`);
  return intent;
}

const isIn = <S extends IntentState>(intent: IntentFields, state: S): intent is Extract<Intent, { state: S }> =>
  intent.state === state;

/** One that ended, with a revision. */
export const anEnded = (
  end: Partial<IntentOutcome> & Pick<IntentOutcome, 'kind'>,
  fields: Partial<IntentFields> = {},
): Extract<Intent, { state: 'ended' }> =>
  anIntent('ended', {
    sentAt: morning + 1000,
    revisionId,
    former: { live: 'r1' },
    how: 'triggered',
    end: { reason: 'It ended.', at: morning + 60_000, ...end },
    ...fields,
  });
