import { decideVerification, type Verification } from '../../src/planning/verification.ts';
import type { Intent } from './intent.ts';
import { readOptions, type ReconcileContext } from './reconcile-context.ts';

/** When the revision of a request is tested. One that goes back to an old revision is not held: it is to serve soon. */
export async function verificationOf(work: ReconcileContext, { sending, terms }: Intent): Promise<Verification> {
  const tests = sending.kind === 'restate' ? terms.smokeTests.length : 0;
  const requested = { verify: terms.verify, tests };
  const mayHold = decideVerification({ ...requested, holds: true }).when === 'before-traffic';
  const holds = mayHold && (await work.context.control.features(readOptions(work))).holds === true;
  return decideVerification({ ...requested, holds });
}

/** The intent with the hold that is requested of its revision, and a note where it is not the one of the deploy file. */
export function withVerification(intent: Intent, { holdSeconds, note }: Verification): Intent {
  const { holdSeconds: _, terms, ...rest } = intent;
  const isNew = note !== undefined && !terms.notes.includes(note);
  return {
    ...rest,
    terms: isNew ? { ...terms, notes: [...terms.notes, note] } : terms,
    ...(holdSeconds === undefined ? {} : { holdSeconds }),
  };
}
