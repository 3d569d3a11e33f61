import type { AgentServer } from '../../contract/agent/service.ts';
import { withAnswers, type SmokeTest } from '../file/smoke-test.ts';
import { asEvidence } from '../rules/compare.ts';
import { answersBefore, withoutLive } from '../rules/against-live.ts';
import type { Evidence, Sample, TestVerdict } from '../rules/verdict-types.ts';

/** A test as it is sent, and its attempts that were made before. */
export interface OpenTest {
  test: SmokeTest;
  former: readonly Evidence[];
  /** False where a live agent was to be compared with, and gave too few answers before the change. */
  isMeasured: boolean;
}

/** Begins a test with what there is to compare with: a live agent, what it answered before the change, or nothing. */
export function openTest(
  written: SmokeTest,
  { live, before }: { live: AgentServer | undefined; before: readonly Sample[] | undefined },
): OpenTest {
  if (live) return { test: written, former: [], isMeasured: true };
  const former = (before ?? []).map(asEvidence);
  return { test: withoutLive(written, former.length), former, isMeasured: before?.length !== 0 };
}

/** Begins a test of the live agent alone, for its answers: those that are missing to the ones that are known. */
export const openMeasurement = (test: SmokeTest, known: readonly Sample[]): Omit<OpenTest, 'isMeasured'> => ({
  test: withAnswers(test, answersBefore(test)),
  former: known.map(asEvidence),
});

/** The verdict on a test whose answers of the live revision can't be compared. */
export const nothingBefore: TestVerdict = {
  kind: 'unproven',
  because: 'unreachable',
  why: 'the live revision answered nothing before the change that could be compared',
};

/** When tests of a held revision must have come to an end (ms since the epoch): before its hold does. */
export const endOfTests = (endsAt: string): number => Date.parse(endsAt) - 60_000;

/** Why no agent can be tested at an address; undefined where one can. */
export function addressProblem(address: string | undefined): string | undefined {
  if (address === undefined) return 'the service does not report where the agent answers';
  return URL.canParse(address) ? undefined : `${address} is not a valid URL`;
}
