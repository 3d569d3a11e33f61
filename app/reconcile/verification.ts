import { decideWhenToTest } from '../../src/deploy/machine/steps/send-change.ts';
import type { Verification } from '../../src/deploy/rules/verification.ts';
import type { Intent } from './intent.ts';
import { withNotes } from './live-answers.ts';
import { readOptions, type ReconcileContext } from './reconcile-context.ts';

/** How long it is tried to read what the service offers (ms), before a revision goes live without a hold. */
const patienceMs = 10 * 60_000;

/**
 * When the revision of a request is tested. One that goes back to an old revision is not held: it is to serve soon.
 *
 * @param live the revision that serves, which alone has conversations.
 */
export async function verificationOf(
  work: ReconcileContext,
  { sending, terms, createdAt }: Intent,
  live: string | null,
): Promise<Verification> {
  const proofs = terms.smokeTests.length + (terms.conversations && live ? 1 : 0);
  const tests = sending.kind === 'restate' ? proofs : 0;
  const { control, clock } = work.context;
  const onUnavailable = clock.now() - createdAt < patienceMs ? 'throw' : 'after-traffic';
  const features = () => control.features(readOptions(work));
  return decideWhenToTest({ verify: terms.verify, tests, features, onUnavailable });
}

/** The intent with the hold that is requested of its revision, and a note where it is not the one of the deploy file. */
export function withVerification(intent: Intent, { holdSeconds, note }: Verification): Intent {
  const { holdSeconds: _, ...rest } = note ? withNotes(intent, [note]) : intent;
  return { ...rest, ...(holdSeconds === undefined ? {} : { holdSeconds }) };
}
