import { randomUUID } from 'node:crypto';
import type { SmokeTest } from '../file/smoke-test.ts';
import { messageOf } from '../../kit/errors.ts';
import { concludeAll } from '../rules/verdict.ts';
import { attributeVerdict, isReplaced } from '../rules/verdict-subject.ts';
import type { Evidence, NamedVerdict, Sample, UnprovenReason, Verdict } from '../rules/verdict-types.ts';
import { noteText } from '../words/note.ts';
import { concludeAttempts, redacted, unjudged, type Conclusion } from './judge.ts';
import { addressProblem, nothingBefore, openTest } from './open-test.ts';
import { sendAttempts, sendingOf, type Sending } from './send-attempts.ts';
import type { DeployEvent } from '../machine/deploy-event.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { DeployRun } from '../machine/deploy-run.ts';
import { productionAgent, clientAt, liveAddress } from '../machine/live-agents.ts';
import type { TestAnswers, TestResult } from '../machine/state.ts';
import { type GoingOn, withConversationsLive } from './run-conversations.ts';
import { baselineContext, keepBaselines, type BaselineContext } from './kept-baselines.ts';
import { reportVerdict } from '../machine/report-verdict.ts';
import { atHold } from './remove-resources.ts';
import type { AgentServer } from '../../contract/agent/service.ts';
import { tryCall, type CallResult } from './try-call.ts';

/** The tests, the agents and the dependencies of a smoke run; without a live agent a test against it is one of one answer. */
interface SmokeRun extends Sending {
  tests: readonly SmokeTest[];
  /** What the live agent answered before the new one was there, by the name of the test. */
  before?: ReadonlyMap<string, readonly Sample[]> | undefined;
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
  const { name } = written;
  const { test, former, isMeasured } = openTest(written, { live, before: smoking.before?.get(name) });
  if (!isMeasured) return { name, attempts: 0, verdict: nothingBefore };
  if (written.series?.kind === 'live' && !test.series)
    smoking.note?.(redact(noteText({ code: 'uncompared', test: test.name })));
  const { judge, secrets = () => [] } = smoking;
  if (judge) {
    const { attempts, isOutOfTime, isUnjudged } = await sendAttempts(test, former, smoking);
    const asked = { test, attempts, secrets: secrets(), isOutOfTime };
    const { verdict, compared } = isUnjudged ? { verdict: unjudged, compared: [] } : await judge.conclude(asked);
    if (!isOutOfTime) smoking.compared?.set(written, compared);
    return { name, attempts: attempts.length, verdict: redacted(verdict, redact) };
  }
  const concluded = (attempts: readonly Evidence[], isOutOfTime: boolean): Conclusion => {
    const { verdict, compared } = concludeAttempts(test, attempts, redact, isOutOfTime);
    return { verdict: redacted(verdict, redact), compared };
  };
  let last: Conclusion | undefined;
  const { attempts, isOutOfTime } = await sendAttempts(test, former, smoking, (made, again) => {
    last = concluded(made, false);
    emit?.({ kind: 'smoke-attempt', name, attempt: made.length, verdict: last.verdict, again });
  });
  const { verdict, compared } = isOutOfTime || !last ? concluded(attempts, isOutOfTime) : last;
  if (!isOutOfTime) smoking.compared?.set(written, compared);
  return { name, attempts: attempts.length, verdict };
}

/** The verdict on the live revision, and the deployment as it was read after the tests. */
export interface LiveVerdict {
  verdict: Verdict;
  current?: CallResult<Deployment>;
}

/** Runs the smoke tests of the request against the live revision, and tries conversations on it. */
export const smokeLive = async (run: DeployRun, revisionId: string | null | undefined): Promise<LiveVerdict> =>
  concludeLive(await askLive(run, revisionId), revisionId, run);

/** Runs the smoke tests of the request against the live revision. */
export async function askLive(run: DeployRun, revisionId: string | null | undefined): Promise<TestResult> {
  const { known } = run;
  // What was answered before is of the revision that the followed one replaced: where that was another one meanwhile,
  // there is nothing to compare with.
  const isOfFormer = revisionId === run.own?.revisionId && known.before?.of === known.formerLive?.id;
  const before = isOfFormer ? known.before?.answers : undefined;
  const compared = new Map<SmokeTest, readonly Sample[]>();
  const live = comparesLive(run) ? await productionAgent(run, (agents) => agents.agentAt) : undefined;
  const verdict = await smokeAt(liveAddress(run), { before, live, compared }, run);
  return { verdict, compared: answersOf(compared) };
}

/**
 * Tries conversations on the live revision after its tests, and reads whether it still serves. Only then the verdict is
 * about it, and is reported to the service while the run goes on.
 */
export async function concludeLive(
  tested: TestResult,
  revisionId: string | null | undefined,
  run: DeployRun,
  conversations: GoingOn = {},
): Promise<LiveVerdict> {
  const { control } = run.request;
  const answered = await withConversationsLive(tested.verdict, run, conversations);
  const deploymentId = run.known.deployment?.id;
  if (!deploymentId || !revisionId || answered.kind === 'none') return { verdict: answered };
  const current = await tryCall(control.getDeployment(deploymentId, run.reading(Infinity)));
  if (!current.ok) {
    run.note({ code: 'verdict-unreported', text: current.error.message });
    return { verdict: answered, current };
  }
  const active = run.saw(current.value).active_revision_id;
  const verdict = attributeVerdict(answered, { tested: revisionId, active });
  if (!isReplaced(verdict)) {
    reportInBackground(verdict, { deploymentId, revisionId }, run);
    keepAnswers({ ...tested, verdict }, { deploymentId, revisionId }, run);
  }
  return { verdict, current };
}

/**
 * Runs the smoke tests against a held revision at its own address. Nothing else answers there, so the verdict is always
 * about it: once it is no longer held, the address is a 404.
 */
export async function smokeHeld(
  { address, until }: { address: string; until: number },
  run: DeployRun,
): Promise<TestResult> {
  const { agentAt } = run.request;
  const serving = () => clientAt(liveAddress(run), agentAt);
  const live = run.known.formerLive && comparesLive(run) ? serving() : undefined;
  const compared = new Map<SmokeTest, readonly Sample[]>();
  const verdict = await smokeAt(address, { live, compared, until }, run, (held) => atHold(held, serving));
  return { verdict, compared: answersOf(compared) };
}

const answersOf = (compared: ReadonlyMap<SmokeTest, readonly Sample[]>): TestAnswers[] =>
  [...compared].map(([{ name: test }, samples]) => ({ test, samples }));

/** Has the service keep what a revision answered, unless it failed. It is to be live. */
export function keepAnswers({ verdict, compared = [] }: TestResult, of: Tested, run: DeployRun): void {
  if (verdict.kind === 'failed') return;
  const { smokeTests } = run.request;
  const measured = new Map(
    compared.flatMap(({ test, samples }) =>
      smokeTests.filter(({ name }) => name === test).map((each) => [each, samples] as const),
    ),
  );
  run.report(() => keepBaselines(measured, baselineContext(of, run)));
}

const comparesLive = ({ request: { smokeTests } }: DeployRun): boolean =>
  smokeTests.some(({ series }) => series?.kind === 'live');

/** The revision that was tested. */
type Tested = Pick<BaselineContext, 'deploymentId' | 'revisionId'>;

/** Reports a verdict to the service while the run goes on. */
export function reportInBackground(verdict: Verdict, { deploymentId, revisionId }: Tested, run: DeployRun): void {
  const { control, workflow, clock, signal, timeoutMs, reporter = workflow ? 'action' : 'cli' } = run.request;
  run.report(() =>
    reportVerdict(verdict, {
      deploymentId,
      revisionId,
      idempotencyKey: randomUUID(),
      reporter,
      detailsUrl: workflow?.runUrl,
      redact: (text) => run.redact(text),
      missed: (error) => run.note({ code: 'verdict-not-sent', text: messageOf(error) }),
      control,
      clock,
      signal,
      withinMs: timeoutMs,
    }),
  );
}

async function smokeAt(
  address: string | undefined,
  beside: Pick<SmokeRun, 'live' | 'before' | 'until' | 'compared'>,
  run: DeployRun,
  connected = (agent: AgentServer): AgentServer => agent,
): Promise<Verdict> {
  const { smokeTests: tests, agentAt } = run.request;
  if (tests.length === 0) return unprovenVerdict([], 'no-address', '');
  const problem = addressProblem(address);
  if (address === undefined || problem !== undefined) return unprovenVerdict(tests, 'no-address', problem ?? '');
  run.emit({ kind: 'smoke-began', address, tests: tests.length });
  return smoke({
    tests,
    agent: connected(agentAt(address)),
    ...beside,
    ...sendingOf(run),
    emit: (event) => run.emit(event),
  });
}
