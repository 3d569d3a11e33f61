import type { HoldDecision } from '../../contract/control/revision.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import type { Deploy, DeployIn, Ending, OpenState, Prepared, RunRevision } from './deploy-state.ts';
import type { TestResult } from './state.ts';

/** How often a plan is made again where another client was faster each time. */
const maxTries = 5;

interface Ends {
  kind: 'ends';
  ending: Ending;
}
/** `key`: the idempotency key of the request. */
type IsPrepared = { kind: 'prepared'; prepared: Prepared; key: string };
type Follows = { kind: 'follows'; own: RunRevision };
/** A deployment whose first revision waits for the folder. */
type Fills = { kind: 'fills'; waits: Omit<DeployIn<'filling'>, 'state' | 'tries'> };
type Stays = { kind: 'stays' };
type IsOver = Ends | { kind: 'live' } | Follows;

/** What a step saw, by the state that it was in. */
export interface Seen {
  requested: Ends | Stays | Follows | IsPrepared;
  filling: Ends | IsPrepared;
  measuring: { kind: 'measured'; key: string };
  sending: Ends | Stays | Follows | Fills | { kind: 'overtaken'; error: ServiceError } | { kind: 'hold-refused' };
  resolving: Seen['sending'] | { kind: 'not-made' };
  following: IsOver | { kind: 'held'; address: string; endsAt: string } | Decides;
  held: Decides | Tested;
  /** `isOurs`: the decision was sent; else the hold was over before, and its tests may have found nobody. */
  deciding: { kind: 'decided'; isOurs: boolean };
  decided: IsOver;
  live: Ends | Tested | { kind: 'restores'; result: TestResult; restoring: DeployIn<'restoring'> };
  serving: Ends;
  restoring: Ends | { kind: 'returns'; revisionId: string };
  returning: Ends;
}
/** Its smoke tests have ended; conversations follow. */
type Tested = { kind: 'tested'; tested: TestResult };
/** Without a result it is discarded untested. */
type Decides = { kind: 'decides'; decision: HoldDecision; result: TestResult | undefined };

type Transitions = { [State in OpenState]: (deploy: DeployIn<State>, seen: Seen[State]) => Deploy };

const transitions: Transitions = {
  requested: ({ tries }, seen) => (seen.kind === 'prepared' ? prepared(tries, seen) : started(seen)),
  filling: ({ tries }, seen) => (seen.kind === 'prepared' ? prepared(tries, seen) : ended(seen)),
  measuring: ({ tries, prepared }, { key }) => ({ state: 'sending', tries, prepared, key }),
  sending: afterSending,
  resolving: ({ prepared }, seen) =>
    seen.kind === 'not-made' ? { state: 'requested', tries: 1 } : afterSending({ tries: 1, prepared }, seen),
  following: ({ own }, seen) => {
    if (seen.kind === 'decides') return decides(own, seen);
    if (seen.kind !== 'held') return over(own, undefined, seen);
    const { address, endsAt } = seen;
    return { state: 'held', own, address, endsAt };
  },
  held: (held, seen) => (seen.kind === 'tested' ? { ...held, tested: seen.tested } : decides(held.own, seen)),
  deciding: ({ own, result }, { isOurs }) => ({ state: 'decided', own, result: isOurs ? result : undefined }),
  decided: ({ own, result }, seen) => over(own, result, seen),
  live: (live, seen) => {
    if (seen.kind === 'tested') return { ...live, tested: seen.tested };
    return seen.kind === 'ends' ? ended(seen) : { ...seen.restoring, undone: { own: live.own, result: seen.result } };
  },
  serving: (_, seen) => ended(seen),
  restoring: ({ undone, target, deploymentId }, seen) =>
    seen.kind === 'ends'
      ? ended(seen)
      : { state: 'returning', undone, target, deploymentId, revisionId: seen.revisionId },
  returning: (_, seen) => ended(seen),
};

/** The state of a deploy after what was seen in its state. Pure; every pair has an answer, by its types. */
export const next = <State extends OpenState>(deploy: DeployIn<State>, seen: Seen[State]): Deploy =>
  transitions[deploy.state](deploy, seen);

function afterSending(
  { tries, prepared }: Pick<DeployIn<'sending'>, 'tries' | 'prepared'>,
  seen: Seen['sending'],
): Deploy {
  if (seen.kind === 'hold-refused') return { state: 'measuring', tries, prepared: withoutHold(prepared) };
  if (seen.kind === 'fills') return filling(tries, seen);
  if (seen.kind !== 'overtaken') return started(seen);
  const { error } = seen;
  return tries < maxTries
    ? { state: 'requested', tries: tries + 1, overtaken: error }
    : { state: 'ended', ending: { kind: 'overtaken', error } };
}

const ended = ({ ending }: Ends): Deploy => ({ state: 'ended', ending });

function prepared(tries: number, { prepared, key }: IsPrepared): Deploy {
  const isMeasured = prepared.mayHold && prepared.holdSeconds === undefined;
  return isMeasured ? { state: 'measuring', tries, prepared } : { state: 'sending', tries, prepared, key };
}

const withoutHold = (prepared: Prepared): Prepared => ({ ...prepared, holdSeconds: undefined });

const filling = (tries: number, { waits }: Fills): Deploy => ({ state: 'filling', tries, ...waits });

const started = (seen: Ends | Stays | Follows): Deploy =>
  seen.kind === 'follows'
    ? { state: 'following', own: seen.own }
    : seen.kind === 'stays'
      ? { state: 'serving' }
      : ended(seen);

const decides = (own: RunRevision, { decision, result }: Decides): Deploy => ({
  state: 'deciding',
  own,
  decision,
  result,
});

function over(own: RunRevision, result: TestResult | undefined, seen: IsOver): Deploy {
  if (seen.kind === 'follows') return { state: 'following', own: seen.own };
  return seen.kind === 'live' ? { state: 'live', own, result } : ended(seen);
}
