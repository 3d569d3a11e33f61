import type { TestResult } from '../../src/deploy/machine/state.ts';
import type { Bound, Former, Intent, IntentFields, IntentHeader, IntentState, OwnField } from './intent.ts';
import { rolloutOf } from '../../src/deploy/machine/state.ts';

const unsent = { live: true, unheld: true } as const;
const sent = { ...unsent, former: true, deadline: true } as const;
const bound: Record<keyof Bound, true> = {
  revisionId: true,
  how: true,
  former: true,
  rollout: true,
  holdSeconds: true,
  agentUrl: true,
  consolePage: true,
};
const proof: Record<keyof TestResult, true> = { verdict: true, verified: true, compared: true };
const proven = { ...bound, ...proof, smoke: true } as const;

/** The fields of each state beside the header. */
const ownFields: { [State in IntentState]: Record<Exclude<OwnField<State>, keyof IntentHeader>, true> } = {
  requested: unsent,
  waiting: { ...unsent, deadline: true },
  paused: unsent,
  measuring: { ...unsent, smoke: true },
  expecting: sent,
  sending: { ...sent, holdSeconds: true, pinsCommit: true, copiesBuild: true, isAccepted: true },
  following: { ...bound, ...proof, deadline: true, live: true },
  testing: { ...bound, hold: true, live: true, smoke: true },
  deciding: { ...proven, hold: true },
  concluding: proven,
  undoing: { ...proven, verdictDueAt: true },
  ended: { ...proven, end: true, hold: true, live: true },
};
const stateFields = new Set(Object.values(ownFields).flatMap((fields) => Object.keys(fields)));

/** The intent without what it had in former states. */
export function exact<I extends Intent>(intent: I): I {
  const copy = { ...intent };
  for (const key of Object.keys(copy))
    if (stateFields.has(key) && !(key in ownFields[intent.state])) Reflect.deleteProperty(copy, key);
  return copy;
}

/** The states that databases have under one name of a former version. */
const tested: readonly IntentState[] = ['testing', 'deciding', 'concluding', 'undoing'];

/** An intent as databases have it. */
export type StoredIntent = Omit<IntentFields, 'state' | 'former'> & {
  state: IntentState | 'held' | 'smoking';
  formerLatestRevisionId?: string | null;
  formerLiveRevisionId?: string | null;
  builtCommit?: string;
  isUndoing?: true;
};

export function toStored(intent: Intent): StoredIntent {
  const { state, former = {}, ...rest }: IntentFields = exact(intent);
  const { latest, live } = former;
  const built = rest.rollout?.builtCommit;
  return {
    ...rest,
    state: state === 'paused' ? 'held' : tested.includes(state) ? 'smoking' : state,
    ...(latest === undefined ? {} : { formerLatestRevisionId: latest }),
    ...(live === undefined ? {} : { formerLiveRevisionId: live }),
    ...(built === undefined ? {} : { builtCommit: built }),
    ...(state === 'undoing' ? { isUndoing: true } : {}),
  };
}

/** Reads what any version stored; what is in no state of today is in the nearest one. */
export const readIntent = (stored: StoredIntent): Intent => exact(nearest(stored));

function nearest(stored: StoredIntent): Intent {
  const { state, formerLatestRevisionId: latest, formerLiveRevisionId: live, builtCommit, isUndoing, ...rest } = stored;
  const { revisionId, updatedAt, verdict, hold, deadline: until, ...others } = rest;
  const former: Former = { ...(latest === undefined ? {} : { latest }), ...(live === undefined ? {} : { live }) };
  const deadline = () => until ?? updatedAt + rest.terms.timeoutMs;
  const known = revisionId === undefined ? undefined : (rest.rollout ?? rolloutOf(revisionId));
  const rollout = known && builtCommit !== undefined ? { ...known, builtCommit } : known;
  switch (state) {
    case 'requested':
      return { ...rest, state };
    case 'waiting':
      return rest.decision?.kind === 'wait' ? { ...rest, state } : { ...others, updatedAt, state };
    case 'held':
    case 'paused':
      return { ...rest, state: 'paused' };
    case 'measuring':
      return rest.live ? { ...rest, state, live: rest.live } : { ...rest, state: 'requested' };
    case 'expecting':
      return { ...rest, state, former, deadline: deadline() };
    case 'ended': {
      const end = rest.end ?? { kind: 'unknown', reason: 'This ended without a known outcome.', at: updatedAt };
      return { ...rest, state, end, former, ...(rollout ? { rollout } : {}) };
    }
  }
  // Without a revision it is found out whether there is one.
  if (state === 'sending' || revisionId === undefined || !rollout)
    return {
      ...rest,
      state: 'sending',
      former,
      deadline: deadline(),
      sentAt: rest.sentAt ?? updatedAt,
      sends: rest.sends ?? 1,
    };
  const followed = { ...rest, revisionId, former, rollout, how: rest.how ?? 'triggered' };
  if (state === 'following') return { ...followed, state, deadline: deadline() };
  if (!verdict) return { ...followed, state: 'testing' };
  if (hold) return { ...followed, state: 'deciding', verdict, hold };
  return { ...followed, state: isUndoing || rest.verdictDueAt !== undefined ? 'undoing' : 'concluding', verdict };
}
