import { agentAddress } from '../../src/contract/control/deployment.ts';
import type { Revision } from '../../src/contract/control/revision.ts';
import { decideHold, settleHold } from '../../src/deploy/machine/decide-hold.ts';
import { reasonOfDecision } from '../../src/deploy/words/verdict-words.ts';
import { type HoldState, holdStateOf, isOpenHold } from '../../src/deploy/rules/hold-state.ts';
import { reportVerdict } from '../verify/report-verdict.ts';
import { deadlineIn } from './deadlines.ts';
import { type Deciding, type Following, type Intent, decisionOn } from './intent.ts';
import {
  continued,
  readOptions,
  requeueAfter,
  saveIntents,
  type ReconcileContext,
  type StepResult,
} from './reconcile-context.ts';
import { comparingTests } from './live-answers.ts';

/** Poll interval for a decision that the service did not record yet (ms). */
const lookMs = 3_000;

/** The followed revision is healthy and held: its smoke tests run at its own address, before it gets traffic. */
export async function beginHeldTests(
  work: ReconcileContext,
  intent: Following,
  { address, endsAt }: Extract<HoldState, { kind: 'held' }>,
): Promise<StepResult> {
  const live = await liveAddress(work, intent);
  await saveIntents(work, [{ ...intent, state: 'testing', hold: { address, ...(live ? { live } : {}), endsAt } }]);
  await work.context.step?.('held', intent.id);
  return continued;
}

/** Where the live revision answers; undefined where there is none, or nothing is compared with it. */
async function liveAddress(work: ReconcileContext, intent: Following): Promise<string | undefined> {
  const { deploymentId, former, terms } = intent;
  const isCompared = terms.conversations || comparingTests(intent).length > 0;
  if (!former.live || !isCompared) return undefined;
  return agentAddress(await work.context.control.getDeployment(deploymentId, readOptions(work)));
}

/**
 * Promotes or discards a held revision by its verdict. The revision is read first: a decision that took effect is not
 * sent again, also where another client sent it. The decision is stored before it is sent.
 */
export async function decideAboutHeld(work: ReconcileContext, intent: Deciding): Promise<StepResult> {
  const { id, deploymentId, revisionId, hold, verdict } = intent;
  const { control, step } = work.context;
  const decision = hold.decision ?? decisionOn(verdict, intent);
  const why = reasonOfDecision(verdict, decision);
  let deciding = intent;
  const options = () => readOptions(work);
  const state = await settleHold({ deploymentId, revisionId, decision, why, control, options }, async () => {
    deciding = { ...intent, hold: { ...hold, decision } };
    if (hold.decision === undefined) await saveIntents(work, [deciding]);
    await step?.('before-decision', id);
  });
  if (deciding !== intent) await step?.('decided', id);
  return isOpenHold(state) ? requeueAfter(work, lookMs) : decided(work, deciding);
}

/**
 * The hold is over: the revision is followed to its end. Where it was over before the App decided, the tests may have
 * found nobody at its address: their verdict is dropped, and a revision that goes live is tested there.
 */
async function decided(work: ReconcileContext, intent: Deciding): Promise<StepResult> {
  const { hold, verdict, compared, ...rest } = intent;
  const isProven = hold.decision !== undefined;
  if (isProven) await reportVerdict(work, intent);
  const deadline = deadlineIn(work.context.clock, intent.id, intent.terms.timeoutMs);
  const following: Following = { ...rest, state: 'following', deadline };
  const proof = { verdict, verified: 'before-traffic', ...(compared ? { compared } : {}) } as const;
  return saveIntents(work, [isProven ? { ...following, ...proof } : following]);
}

/** How many of a deployment's newest intents with a revision are searched for the one that made a revision. */
export const searchedIntents = 30;

/**
 * The requested hold of a revision that an earlier request of this App made and no longer follows: without the App no
 * one decides about it. Undefined for revisions of others.
 */
export function abandonedHold(before: readonly Intent[], revisionId: string): number | undefined {
  const ended = before.filter((each) => each.state === 'ended');
  return ended.find((each) => each.revisionId === revisionId && each.holdSeconds)?.holdSeconds;
}

/** Discards a held revision that a request waits for, if an earlier request made it and no longer follows it. */
export async function discardAbandoned(
  work: ReconcileContext,
  deploymentId: string,
  revision: Revision | undefined,
): Promise<void> {
  if (!revision || holdStateOf(revision).kind !== 'held') return;
  const before = await work.context.store.lastWithRevision(deploymentId, searchedIntents);
  if (abandonedHold(before, revision.id) === undefined) return;
  const { control } = work.context;
  const why = 'It was not tested, and another commit is requested.';
  const options = () => readOptions(work);
  await decideHold({ deploymentId, revisionId: revision.id, decision: 'discarded', why, control, options });
}
