import { isTransient } from '../../contract/service-error.ts';
import { reasonOfDecision, reasonOfOtherCommit } from '../words/verdict-words.ts';
import type { ConversationCourse } from '../rules/conversation-course.ts';
import { decisionOf, type HoldState, isOpenHold } from '../rules/hold-state.ts';
import type { Verification } from '../rules/verification.ts';
import { type HoldDeciding, settleHold } from './decide-hold.ts';
import type { DeployRun } from './deploy-run.ts';
import type { DeployIn } from './deploy-state.ts';
import type { Seen } from './next.ts';
import { endOfTests } from '../smoke/open-test.ts';
import { triesConversationsHeld, withConversationsHeld } from '../smoke/run-conversations.ts';
import { reportInBackground, smokeHeld } from '../smoke/smoke.ts';
import { tryCall } from '../smoke/try-call.ts';
import { decideWhenToTest } from './steps/send-change.ts';

/** How long a decision may take to be recorded, and a promoted revision to get the traffic (ms), at the least. */
const decidingMs = 120_000;

/** Until when a decision may take (ms since the epoch). */
export const decidingUntil = ({ deadline, request: { clock } }: DeployRun): number =>
  Math.max(deadline, clock.now() + decidingMs);

/** When this run tests its revision. */
export async function verificationOf(run: DeployRun): Promise<Verification> {
  const { request: terms, known } = run;
  if (known.verification) return known.verification;
  const [isUnheld, isReplacing] = [!terms.wait, known.formerLive !== undefined];
  const features = () => terms.control.features(run.reading());
  return run.verifies(
    await decideWhenToTest({ terms, isUnheld, isReplacing, features, onUnavailable: 'after-traffic' }),
  );
}

/** Tests a held revision at its own address, and then tries conversations there. */
export async function testHeld(held: DeployIn<'held'>, run: DeployRun): Promise<Seen['held']> {
  const { own, address, endsAt, conversations: course } = held;
  const until = endOfTests(endsAt);
  if (!held.tested) run.emit({ kind: 'held', revisionId: own.revisionId, endsAt });
  const tested = held.tested ?? (await smokeHeld({ address, until }, run));
  if (!held.tested && triesConversationsHeld(tested.verdict, run)) return { kind: 'tested', tested };
  const keep = (conversations: ConversationCourse) => run.keep({ ...held, tested, conversations });
  const verdict = await withConversationsHeld(tested.verdict, { address, until, course, keep }, run);
  reportInBackground(verdict, own, run);
  const { onUnproven } = run.request;
  const decision = decisionOf(verdict, { isReplacing: run.known.formerLive !== undefined, onUnproven });
  return { kind: 'decides', decision, result: { ...tested, verdict, verified: 'before-traffic' } };
}

/** Has the service carry a decision out, which another client may have made meanwhile. */
export async function decideAboutHeld(
  { own: { deploymentId, revisionId, holdSeconds }, decision, result, mayBeSent }: DeployIn<'deciding'>,
  run: DeployRun,
): Promise<Seen['deciding']> {
  // One of another client that is not tested is left to it.
  if (!result && holdSeconds === undefined) return { kind: 'decided', isOurs: false };
  const why = result ? run.redact(reasonOfDecision(result.verdict, decision)) : reasonOfOtherCommit;
  const { hold, isSent } = await persistently({ deploymentId, revisionId, decision, why }, decidingUntil(run), run);
  const { rollout } = run.known;
  if (result && rollout && hold.kind !== 'none') run.record({ ...rollout, hold });
  // Else the hold was over before: its tests may have found nobody at its address.
  const isOurs = isSent || (mayBeSent === true && hold.kind === decision);
  if (result && hold.kind === decision) run.emit({ kind: 'hold-decided', revisionId, decision, why });
  else if (result) run.note({ code: 'decided-otherwise', revisionId, decision, hold: hold.kind });
  return { kind: 'decided', isOurs };
}

/** Repeats a decision while the service is unavailable: without one, the revision is discarded in the end. */
async function persistently(
  toDecide: Omit<HoldDeciding, 'control' | 'options'>,
  deadline: number,
  run: DeployRun,
): Promise<{ hold: HoldState; isSent: boolean }> {
  let isSent = false;
  const deciding = { ...toDecide, control: run.request.control, options: () => run.reading(deadline) };
  for (;;) {
    const decided = await tryCall(settleHold(deciding, () => void (isSent = true)));
    const isLate = run.request.clock.now() >= deadline;
    if (decided.ok && (isLate || !isOpenHold(decided.value))) return { hold: decided.value, isSent };
    if (!decided.ok && (isLate || !isTransient(decided.error))) throw decided.error;
    if (!decided.ok) run.emit({ kind: 'decision-failed', why: run.redact(decided.error.message) });
    await run.untilNextPoll(deadline, decided.ok ? 0 : decided.error.retryAfterMs);
  }
}

/** How long a cancelled run may take to end the revision that it holds (ms). */
const abandonMs = 5_000;

/** Ends a revision that only this run would have decided about, untested. Returns whether it did. */
export async function abandonHeld(run: DeployRun): Promise<boolean> {
  const why = 'The run that tested it was cancelled.';
  const { rollout } = run.known;
  const { control, further, clock, journal } = run.request;
  const isOpen = !rollout || (rollout.kind === 'in-progress' && (!rollout.hold || isOpenHold(rollout.hold)));
  if (run.own?.holdSeconds === undefined || !isOpen || journal?.leavesHeld) return false;
  const { deploymentId, revisionId } = run.own;
  const options = { deadline: clock.now() + abandonMs };
  const ended = await tryCall<unknown>(
    rollout?.hold?.kind === 'held' || !further
      ? control.discardRevision(deploymentId, revisionId, { why }, options)
      : further.interruptRevision(deploymentId, revisionId, options),
  );
  return ended.ok;
}
