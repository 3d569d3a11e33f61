import type { SmokeTest } from '../file/smoke-test.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import { answersBefore, comparesKept } from '../rules/against-live.ts';
import type { Note } from '../rules/note.ts';
import { asJudged } from '../rules/series.ts';
import { openMeasurement } from '../smoke/open-test.ts';
import type { Evidence, Sample } from '../rules/verdict-types.ts';
import type { DeployRun } from './deploy-run.ts';
import { baselineContext, keepBaselines, readBaselines, type KeptBaseline } from '../smoke/kept-baselines.ts';
import { sendAttempts, sendingOf } from '../smoke/send-attempts.ts';
import { clientAt, liveAddress } from './live-agents.ts';

/** How long a live agent is measured before a change at the most (ms). */
export const maxMeasuringMs = 30 * 60_000;

/**
 * Sends the tests that compare to the live agent, before a change replaces it: where the service can't hold the new
 * revision, both never answer at the same time. Without a live agent there is nothing to compare with.
 */
export async function measureLive(run: DeployRun): Promise<void> {
  const { smokeTests, wait, agentAt, previewRun } = run.request;
  // A preview is compared with an agent that goes on serving.
  if (previewRun) return;
  const { formerLive, formerDeployment, before } = run.known;
  const tests = smokeTests.filter(({ series }) => series?.kind === 'live');
  if (!wait || tests.length === 0 || !formerLive || !formerDeployment) return;
  const agent = clientAt(liveAddress(run), agentAt);
  if (!agent) return;
  if (before?.of === formerLive.id) return;
  delete run.known.before;
  const context = baselineContext({ deploymentId: formerDeployment.id, revisionId: formerLive.id }, run);
  const kept = await readBaselines(testsOfKept(tests), context);
  for (const note of notesOfKept([...kept.values()], formerLive.id)) run.note(note);
  const former = new Map(tests.map((test) => [test, fromKept(test, kept.get(test)?.samples ?? [])]));
  const missing = tests.filter((test) => former.get(test)?.isOpen);
  if (missing.length > 0) run.emit({ kind: 'measuring-live', revisionId: formerLive.id, tests: missing.length });
  const until = run.request.clock.now() + maxMeasuringMs;
  const answers = new Map<string, readonly Sample[]>();
  const measured = new Map<SmokeTest, readonly Sample[]>();
  for (const test of tests) {
    const { samples = [], isOpen = true } = former.get(test) ?? {};
    const all = isOpen ? await measure(test, { former: samples, agent, until }, run) : samples;
    answers.set(test.name, all);
    if (isOpen) measured.set(test, all);
  }
  const { control, clock, timeoutMs } = run.request;
  run.deadline = clock.now() + timeoutMs;
  run.known.before = { of: formerLive.id, answers };
  const current = await control.getDeployment(formerDeployment.id, run.reading());
  // Some of the answers are those of the revision that serves now.
  if (current.active_revision_id !== formerLive.id) {
    run.known.before.answers = new Map(tests.map(({ name }) => [name, []]));
    return;
  }
  // It is of use if this change fails, and the live revision goes on.
  run.report(() => keepBaselines(measured, context));
}

/** The tests whose answers of another day can be compared with. */
export const testsOfKept = (tests: readonly SmokeTest[]): SmokeTest[] => tests.filter(comparesKept);

/** What is used of the kept answers to a test, and whether more are to be measured. */
export const fromKept = (
  test: SmokeTest,
  kept: readonly Sample[],
): { samples: readonly Sample[]; isOpen: boolean } => ({
  samples: kept.slice(-answersBefore(test)),
  isOpen: kept.length < answersBefore(test),
});

/** Says which answers were not measured now, and when they were. */
export function notesOfKept(kept: readonly Pick<KeptBaseline, 'takenAt'>[], revisionId: string): Note[] {
  const [oldest] = kept.map(({ takenAt }) => takenAt).toSorted();
  return oldest === undefined ? [] : [{ code: 'answers-kept', tests: kept.length, revisionId, oldest }];
}

/** Fewer answers could never show that a change made the agent worse. */
export const fewestAnswers = 10;

/** The newest answers of a live agent to a test that a new one can be compared with; none where they are too few. */
export function usableAnswers(test: SmokeTest, answers: readonly Sample[]): readonly Sample[] {
  const wanted = answersBefore(test);
  return answers.length < Math.min(wanted, fewestAnswers) ? [] : answers.slice(-wanted);
}

/** The answers of these attempts that a new agent can be compared with. */
export const measuredAnswers = (test: SmokeTest, attempts: readonly Evidence[]): readonly Sample[] =>
  usableAnswers(
    test,
    attempts.flatMap((each) => {
      const judged = asJudged(test, each);
      if (judged.kind !== 'judged') return [];
      const { kind: _, ...sample } = judged;
      return [sample];
    }),
  );

/** What the live agent answered: `former` answers, and as many more as are missing. */
async function measure(
  test: SmokeTest,
  { former, ...receiver }: { former: readonly Sample[]; agent: AgentServer; until: number },
  run: DeployRun,
): Promise<readonly Sample[]> {
  const opened = openMeasurement(test, former);
  const { attempts } = await sendAttempts(opened.test, opened.former, { ...receiver, ...sendingOf(run) });
  return measuredAnswers(test, attempts);
}
