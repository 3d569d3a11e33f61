import { randomUUID } from 'node:crypto';
import type { SmokeTest } from '../file/smoke-test.ts';
import { messageOf } from '../../kit/errors.ts';
import type { Redact } from '../words/format-expectation.ts';
import { concludeAll, concludeTest } from '../rules/verdict.ts';
import { attributeVerdict, replacementIn } from '../rules/verdict-subject.ts';
import { comparedAnswers, comparisonSoFar, uncomparedNote, withoutLive } from '../rules/against-live.ts';
import type { Evidence, NamedVerdict, Sample, TestVerdict, UnprovenReason, Verdict } from '../rules/verdict-types.ts';
import { clientAt, liveAddress } from '../machine/live-address.ts';
import { sendAttempts, sendingOf, type Sending } from './send-attempts.ts';
import type { DeployEvent } from '../machine/deploy-event.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import { withConversationsHeld, withConversationsLive } from './run-conversations.ts';
import { baselineContext, keepBaselines } from './kept-baselines.ts';
import { reportVerdict } from '../machine/report-verdict.ts';
import { atHold } from './remove-resources.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import { tryCall, type CallResult } from './try-call.ts';

/** The tests, the agents and the dependencies of a smoke run; without a live agent a test against it is one of one answer. */
interface SmokeRun extends Sending {
  tests: readonly SmokeTest[];
  /** What the live agent answered before the new one was there, by the name of the test. */
  before?: ReadonlyMap<string, readonly Evidence[]> | undefined;
  /** Receives what the new agent answered to each test against the live one. */
  compared?: Map<SmokeTest, readonly Sample[]> | undefined;
  emit?: ((event: DeployEvent) => void) | undefined;
}

/** Runs every smoke test in order and judges the responses. Rejects only when the signal aborts. */
export async function smoke(smoking: SmokeRun): Promise<Verdict> {
  const verdicts: NamedVerdict[] = [];
  for (const test of smoking.tests) {
    const tested = await runSmokeTest(test, smoking);
    verdicts.push(tested);
    smoking.emit?.({ kind: 'smoke-tested', tested });
  }
  return concludeAll(verdicts);
}

/** The verdict if no agent can be reached. */
export function unprovenVerdict(tests: readonly SmokeTest[], because: UnprovenReason, why: string): Verdict {
  return concludeAll(tests.map(({ name }) => ({ name, attempts: 0, verdict: { kind: 'unproven', because, why } })));
}

async function runSmokeTest(written: SmokeTest, smoking: SmokeRun): Promise<NamedVerdict> {
  const { live, emit, redact = (text: string) => text } = smoking;
  const measured = live ? undefined : smoking.before?.get(written.name);
  if (measured?.length === 0) return { name: written.name, attempts: 0, verdict: nothingBefore };
  const before = measured ?? [];
  const test = live ? written : withoutLive(written, before.length);
  if (written.series?.kind === 'live' && !test.series) {
    smoking.note?.(redact(uncomparedNote(test)));
  }
  let verdict: TestVerdict = outOfTime;
  const { attempts, isOutOfTime } = await sendAttempts(test, before, smoking, (made, again) => {
    verdict = redacted(concludeTest(test, made, redact), redact);
    emit?.({ kind: 'smoke-attempt', name: test.name, attempt: made.length, verdict, again });
  });
  if (isOutOfTime) verdict = cutVerdict(test, attempts, redact);
  else smoking.compared?.set(written, comparedAnswers(test, attempts));
  return { name: test.name, attempts: attempts.length, verdict };
}

/** The verdict on a test whose answers of the live revision can't be compared. */
export const nothingBefore: TestVerdict = {
  kind: 'unproven',
  because: 'unreachable',
  why: 'the live revision answered nothing before the change that could be compared',
};

/** The verdict on a test that the hold of its revision leaves no more time for. */
export const outOfTime = {
  kind: 'unproven',
  because: 'undecided',
  why: 'the hold of the revision ends soon: send fewer requests, or verify after-traffic',
} as const satisfies TestVerdict;

/** The verdict on a test whose time is up before it is decided, with what its attempts have shown. */
export function cutVerdict(test: SmokeTest, attempts: readonly Evidence[], redact: Redact): TestVerdict {
  const { kind, ...concluded } = concludeTest(test, attempts, redact);
  const comparison = comparisonSoFar(test, attempts);
  return { ...(kind === 'unproven' ? concluded : {}), ...(comparison && { comparison }), ...outOfTime };
}

/** When tests of a held revision must have come to an end (ms since the epoch): before its hold does. */
export const endOfTests = (endsAt: string): number => Date.parse(endsAt) - 60_000;

/** Redacts the known secrets: an agent may repeat anything that it was given. */
export function redacted(verdict: TestVerdict, redact: (text: string) => string): TestVerdict {
  if (verdict.kind === 'unproven') return { ...verdict, why: redact(verdict.why) };
  return {
    ...verdict,
    held: verdict.held.map((each) => ({ ...each, expected: redact(each.expected), seen: redact(each.seen) })),
  };
}

/** The verdict on the live revision, and the deployment as it was read after the tests. */
export interface LiveVerdict {
  verdict: Verdict;
  current?: CallResult<Deployment>;
}

/**
 * Runs the smoke tests of the request against the live revision, and reads whether it still serves. Only then the
 * verdict is about it, and is reported to the service while the run goes on.
 */
export async function smokeLive(run: DeployRun, revisionId: string | null | undefined): Promise<LiveVerdict> {
  const { control } = run.request;
  // What was answered before is of the revision that the followed one replaced.
  const before = revisionId === run.known.revisionId ? run.known.before?.answers : undefined;
  const compared = new Map<SmokeTest, readonly Sample[]>();
  const answered = await withConversationsLive(await smokeAt(liveAddress(run), { before, compared }, run), run);
  const deploymentId = run.known.deployment?.id;
  if (!deploymentId || !revisionId || answered.kind === 'none') return { verdict: answered };
  const current = await tryCall(control.getDeployment(deploymentId, run.reading(Infinity)));
  if (!current.ok) {
    run.note(`the verdict of the smoke tests is not reported to the service: ${current.error.message}`);
    return { verdict: answered, current };
  }
  const active = run.saw(current.value).active_revision_id;
  const verdict = attributeVerdict(answered, { tested: revisionId, active });
  if (replacementIn(verdict) === undefined) reportInBackground(verdict, { deploymentId, revisionId, compared }, run);
  return { verdict, current };
}

/**
 * Runs the smoke tests against a held revision at its own address. Nothing else answers there, so the verdict is always
 * about it: once it is no longer held, the address is a 404.
 */
export async function smokeHeld(
  held: { deploymentId: string; revisionId: string; address: string; endsAt: string },
  run: DeployRun,
): Promise<Verdict> {
  const { smokeTests, agentAt } = run.request;
  const serving = () => clientAt(liveAddress(run), agentAt);
  const isCompared = run.known.formerLive && smokeTests.some(({ series }) => series?.kind === 'live');
  const compared = new Map<SmokeTest, readonly Sample[]>();
  const { address: heldAddress, endsAt } = held;
  const until = endOfTests(endsAt);
  const live = isCompared ? serving() : undefined;
  const answered = await smokeAt(heldAddress, { live, compared, until }, run, (held) => atHold(held, serving));
  const verdict = await withConversationsHeld(answered, { address: heldAddress, until }, run);
  reportInBackground(verdict, { ...held, compared }, run);
  return verdict;
}

/** Reports the verdict, and keeps what was measured with a revision that goes on to serve. */
function reportInBackground(
  verdict: Verdict,
  tested: { deploymentId: string; revisionId: string; compared: NonNullable<SmokeRun['compared']> },
  run: DeployRun,
): void {
  const { deploymentId, revisionId, compared } = tested;
  const { control, workflow, clock, signal, timeoutMs } = run.request;
  run.report(() =>
    reportVerdict(verdict, {
      deploymentId,
      revisionId,
      idempotencyKey: randomUUID(),
      reporter: workflow ? 'action' : 'cli',
      detailsUrl: workflow?.runUrl,
      redact: (text) => run.redact(text),
      missed: (error) =>
        run.note(`the verdict of the smoke tests could not be reported to the service: ${messageOf(error)}`),
      control,
      clock,
      signal,
      withinMs: timeoutMs,
    }),
  );
  if (verdict.kind !== 'failed') run.report(() => keepBaselines(compared, baselineContext(tested, run)));
}

async function smokeAt(
  address: string | undefined,
  beside: Pick<SmokeRun, 'live' | 'before' | 'until' | 'compared'>,
  run: DeployRun,
  connected = (agent: AgentServer): AgentServer => agent,
): Promise<Verdict> {
  const { smokeTests: tests, agentAt } = run.request;
  if (tests.length === 0) return unprovenVerdict([], 'no-address', '');
  if (address === undefined)
    return unprovenVerdict(tests, 'no-address', 'the service does not report where the agent answers');
  if (!URL.canParse(address)) return unprovenVerdict(tests, 'no-address', `${address} is not a valid URL`);
  run.emit({ kind: 'smoke-began', address, tests: tests.length });
  return smoke({
    tests,
    agent: connected(agentAt(address)),
    ...beside,
    ...sendingOf(run),
    emit: (event) => run.emit(event),
  });
}
