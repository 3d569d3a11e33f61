import { outcomes } from '../../src/deploy/words/outcomes.ts';
import { adviceOnAlsoWrong, alsoWrong } from '../../src/deploy/words/rollback.ts';
import type { AppContext } from '../context.ts';
import type { NewIntentOutcome } from './outcomes.ts';
import type { Ended, Intent, IntentIn } from './intent.ts';
import type { QueueChanges } from './store.ts';

type ConsequenceContext = Pick<AppContext, 'store' | 'clock'>;

/** Further changes in the same transaction that follow from these intents. */
interface Consequences {
  undone?: { intent: IntentIn<'concluding' | 'undoing'>; end: NewIntentOutcome } | undefined;
  deploymentQueue: QueueChanges;
}

/** The outcome of a rollback also ends the intent that it undid, and changes the queue. */
export async function consequencesOf(context: ConsequenceContext, intents: readonly Intent[]): Promise<Consequences> {
  const back = intents.filter((intent) => intent.state === 'ended').find(({ sending }) => sending.kind === 'redeploy');
  return back
    ? { undone: await undoneBy(context, back), deploymentQueue: await afterGoingBack(context, back) }
    : { deploymentQueue: {} };
}

/** Changes the queue after a rollback: the commit is not retried automatically. */
async function afterGoingBack({ store, clock }: ConsequenceContext, back: Ended): Promise<QueueChanges> {
  const isBack = back.end.kind === 'deployed' || back.end.kind === 'unproven' || back.end.kind === 'broken';
  const { kind } = back.cause;
  if (!isBack || (kind !== 'failure' && kind !== 'rollback') || back.sending.kind !== 'redeploy') return {};
  const { rolledBackCommit } = await store.deploymentQueue(back.deploymentId);
  const commit = kind === 'failure' ? back.commit : rolledBackCommit;
  // What a person takes back of a later environment stays so, whatever is proven before it.
  const hold =
    back.terms.rules.afterRollback === 'hold' || (kind === 'rollback' && back.terms.promotedFrom !== undefined);
  return {
    ...(kind === 'failure' ? { rolledBackCommit: back.commit } : {}),
    ...(hold ? { held: { since: clock.now(), commit } } : {}),
  };
}

/** The intent that this rollback undoes, with its outcome; none if it undoes nothing. */
async function undoneBy({ store }: ConsequenceContext, back: Ended): Promise<Consequences['undone']> {
  const intent = back.cause.kind === 'failure' ? await store.intent(back.cause.key) : undefined;
  if (intent?.state !== 'undoing' && intent?.state !== 'concluding') return undefined;
  return { intent, end: endOfUndone(intent, back) };
}

function endOfUndone({ revisionId, verdict }: IntentIn<'concluding' | 'undoing'>, back: Ended): NewIntentOutcome {
  const { end } = back;
  const tested = { revisionId, verdict };
  const target = back.sending.kind === 'redeploy' ? back.sending.revisionId : '';
  if (end.kind === 'deployed' || end.kind === 'unproven') {
    const isProven = end.kind === 'deployed' && back.verdict?.kind === 'passed';
    const undo = { kind: 'serves-again', revisionId: target, isProven } as const;
    return { ...outcomes.wrong(tested, 'app', undo), rolledBackTo: target };
  }
  const { reason: why, advice } = end;
  return end.kind === 'broken'
    ? outcomes.wrong(tested, 'app', { kind: 'no-help', why: `${alsoWrong(target)}.`, advice: adviceOnAlsoWrong })
    : outcomes.wrong(tested, 'app', { kind: 'not-undone', why, ...(advice ? { advice } : {}) });
}
