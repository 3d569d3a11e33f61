import type { Deployment } from '../../src/contract/control/deployment.ts';
import { hashOfTest, samplesOf } from '../../src/deploy/smoke/kept-baselines.ts';
import {
  fewestAnswers,
  fromKept,
  maxMeasuringMs,
  notesOfKept,
  testsOfKept,
  usableAnswers,
} from '../../src/deploy/machine/measure-live.ts';
import type { Note } from '../../src/deploy/rules/note.ts';
import { deadlineIn, isExpired } from './deadlines.ts';
import type { IntentHeader, LiveAnswers, Measuring, Sending, UnsentIntent } from './intent.ts';
import { baselinesOf, comparedRevision, comparingTests, testToMeasure, putAnswers } from './live-answers.ts';
import { continued, readOptions, saveIntents, type ReconcileContext, type StepResult } from './reconcile-context.ts';
import type { Baseline } from './store.ts';

/** How often another live revision is measured, which took the place of the one before. */
const maxRounds = 3;

const subjectOf = ({ id }: IntentHeader): string => `measuring ${id}`;

/**
 * What the live revision answered is read before a request is sent without a hold: the intent with what is kept of it,
 * in the state `measuring` where more is to be measured. As it is where it has all, or compares nothing.
 */
export async function withLiveAnswers(
  work: ReconcileContext,
  intent: UnsentIntent,
  deployment: Deployment,
): Promise<UnsentIntent> {
  const compared = comparedRevision(intent, deployment);
  if (!compared) return intent;
  if (intent.live?.revisionId === compared.revisionId && !testToMeasure(intent)) return intent;
  const { store, clock } = work.context;
  const { revisionId } = compared;
  const tests = testsOfKept(comparingTests(intent));
  const stored = await store.baselines(intent.deploymentId, revisionId, tests.map(hashOfTest));
  const kept = tests.flatMap((test) => {
    const found = stored.find(({ testHash }) => testHash === hashOfTest(test));
    const samples = found && samplesOf(found);
    if (!found || !samples) return [];
    const { isOpen, ...used } = fromKept(test, samples);
    const answers = { test: test.name, ...used, ...(isOpen && { isOpen }) };
    return [{ answers, takenAt: new Date(found.takenAt).toISOString() }];
  });
  const rounds = (intent.live?.rounds ?? 0) + 1;
  const answers = kept.reduce<LiveAnswers['answers']>((all, each) => putAnswers(all, each.answers), []);
  const live: LiveAnswers = {
    ...compared,
    rounds,
    until: deadlineIn(clock, subjectOf(intent), maxMeasuringMs),
    notes: notesOfKept(kept, revisionId),
    answers,
  };
  if (rounds > maxRounds) return { ...intent, live: withoutOpen(intent, live), unheld: true };
  const measured = { ...intent, live, unheld: true } as const;
  return testToMeasure(measured) ? { ...measured, state: 'measuring' } : measured;
}

/** Stores that the live revision is measured. Nothing is sent to the service meanwhile. */
export async function beginMeasuring(work: ReconcileContext, intent: Measuring): Promise<StepResult> {
  await saveIntents(work, [intent]);
  await work.context.step?.('measuring', intent.id);
  return continued;
}

/** Sends the live revision its tests until all are measured, it serves no longer, or the time is over. */
export async function measureLive(work: ReconcileContext, intent: Measuring): Promise<StepResult> {
  const { live } = intent;
  const { clock, smoke, agentAt } = work.context;
  const test = testToMeasure(intent);
  const isOver = isExpired(clock, subjectOf(intent), live.until, maxMeasuringMs);
  if (!test) return endMeasuring(work, intent, live);
  // Some of the answers may be those of the revision that serves now.
  if (!isOver && !(await serves(work, intent))) return endMeasuring(work, intent, { ...live, answers: [] });
  const former = live.answers.find((each) => each.test === test.name)?.samples ?? [];
  const now = clock.now();
  // The time of day may have been set.
  const until = isOver ? now : live.until > now ? live.until : now + maxMeasuringMs;
  const measurement = { test, former, until };
  const result = await smoke.measure(intent, measurement, agentAt(live.address), work.signal);
  if (result.kind === 'waiting') {
    await saveIntents(work, [{ ...intent, smoke: result.state }]);
    // Continue here after storing: only this process has the unused tokens.
    return result.at <= clock.now() ? continued : { kind: 'requeue', until: result.at };
  }
  const answers = putAnswers(live.answers, {
    test: test.name,
    samples: result.samples,
    ...(result.samples.length > former.length ? { measuredAt: clock.now() } : {}),
  });
  return saveIntents(work, [{ ...intent, smoke: result.state, live: { ...live, answers } }]);
}

/** Whether the measured revision still serves: read once in each pass. */
async function serves(work: ReconcileContext, { deploymentId, live }: Measuring): Promise<boolean> {
  const { control } = work.context;
  if (work.measured === live.revisionId) return true;
  const { active_revision_id: active } = await control.getDeployment(deploymentId, readOptions(work));
  if (active === live.revisionId) work.measured = live.revisionId;
  return active === live.revisionId;
}

/** The request is decided once more by the state of the service: sent, if the measured revision still serves. */
async function endMeasuring(work: ReconcileContext, intent: Measuring, live: LiveAnswers): Promise<StepResult> {
  await work.context.smoke.cleanUp(intent, work.context.agentAt(live.address), work.signal);
  await saveIntents(work, [{ ...intent, state: 'requested', live: withNoteOfEmpty(live) }]);
  await work.context.step?.('measured', intent.id);
  return continued;
}

/** What is kept, where no time is left to measure more. */
function withoutOpen(intent: UnsentIntent, live: LiveAnswers): LiveAnswers {
  const answers = comparingTests(intent).map((test) => {
    const samples = live.answers.find((each) => each.test === test.name)?.samples ?? [];
    return { test: test.name, samples: usableAnswers(test, samples) };
  });
  return withNoteOfEmpty({ ...live, answers });
}

function withNoteOfEmpty(live: LiveAnswers): LiveAnswers {
  const empty = live.answers.filter(({ samples }) => samples.length === 0).length;
  if (empty === 0) return live;
  const { revisionId, notes } = live;
  const note: Note = { code: 'answers-too-few', tests: empty, fewest: fewestAnswers, revisionId };
  return { ...live, notes: [...notes, note] };
}

/** The notes of the answers that the revision of an intent is compared with. */
export const notesOfLive = (
  { live }: UnsentIntent,
  { active_revision_id: active }: Deployment,
): LiveAnswers['notes'] => (live?.revisionId === active ? live.notes : []);

/** What was measured of the live revision that a request replaces: of use if its revision does not go live. */
export function measuredBaselines(intent: Sending, deployment: Deployment): Baseline[] {
  const { live } = intent;
  if (!live || live.revisionId !== deployment.active_revision_id) return [];
  const measured = live.answers.flatMap(({ measuredAt, ...answers }) =>
    measuredAt === undefined ? [] : [{ ...answers, takenAt: measuredAt }],
  );
  return baselinesOf(intent, live.revisionId, measured, deployment);
}
