import type { Logger } from '../../src/logger.ts';
import { randomUUID } from 'node:crypto';
import { backoffMs, type Clock } from '../../src/clock.ts';
import type { SmokeTest, Expectation } from '../../src/config/smoke-test.ts';
import type { AgentServer, ConversationServer } from '../../src/contract/agent/service.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { receiverOf, withoutLive } from '../../src/planning/against-live.ts';
import { isPauseDue } from '../../src/planning/series.ts';
import type { Evidence } from '../../src/planning/verdict-types.ts';
import { sendTestRequest, evidenceOfFailure } from '../../src/deploy/send-test-request.ts';
import { pauseAfter } from '../../src/deploy/send-attempts.ts';
import { endOfTests, outOfTime } from '../../src/deploy/smoke.ts';
import type { Intent } from '../reconcile/intent.ts';
import type { SmokeTestRunner, SmokeStepResult } from '../context.ts';
import { startRun } from './background-run.ts';
import { withChosenIds, cleanUp } from './cleanup.ts';
import { createConversationTester } from './conversations.ts';
import { createGrading } from './grading.ts';
import { secretsOf, judgeHere, unjudged, type Judge } from './judge.ts';
import { pollRun } from './poll-run.ts';
import { makeToken, unusedTokens } from './receive-run.ts';
import {
  mostLost,
  readProgress,
  writeProgress,
  type RunProgress,
  type AttemptResources,
  type PreparedAttempt,
  type Progress,
} from './progress.ts';

export interface SmokeTestRunnerOptions {
  clock: Clock;
  /** From 0 up to 1. */
  random: () => number;
  /** Source of a deployment's secrets, which its agent may repeat. */
  control: ControlService;
  /** This App's URL for agents' webhooks, without a trailing slash; without it runs are polled. */
  publicUrl?: string | undefined;
  /** The addresses of graders that may get answers; without them none does. */
  graderUrls?: readonly string[] | undefined;
  /** An agent's conversations, at its address. */
  threadsAt: (url: string) => ConversationServer;
  /** On this thread when absent. */
  judge?: Judge;
  /** Receives what could not be removed at an agent. */
  log: Logger;
}

/** Between two attempts no more than this is waited (ms), whatever the time of day does meanwhile. */
const longestRestMs = 60_000;

/** One step of one intent's tests, and all that it needs. */
interface Step {
  intent: Intent;
  test: SmokeTest;
  agent: AgentServer;
  signal: AbortSignal;
  progress: Progress;
}

/**
 * Runs the smoke tests of a live or held revision, one after the other. `advance` does one small step and returns the state to store
 * before the next: ids are stored before they are used, and threads are removed after their result is stored. So a
 * crash anywhere loses no response and leaves no thread behind. A run whose process ended before its id was stored is
 * abandoned and started again.
 *
 * A test without stream expectations is a background run, reported by a webhook if there is a public URL and polled
 * otherwise. Any other test streams its run within one step, up to the test's timeout.
 */
export function createSmokeTestRunner({
  clock,
  random,
  control,
  publicUrl,
  graderUrls = [],
  threadsAt,
  judge = judgeHere,
  log,
}: SmokeTestRunnerOptions): SmokeTestRunner {
  const tokens = unusedTokens();
  const grade = createGrading({ control, clock, random, graderUrls });
  const tryConversations = createConversationTester({ clock, control, threadsAt, judge, log });

  const goOn = (progress: Progress, at = clock.now()): SmokeStepResult => ({
    kind: 'waiting',
    state: writeProgress(progress),
    at,
  });
  const noteLeftBehind = (intent: Intent) => (what: string) =>
    log.info({ intent: intent.id, deployment: intent.deploymentId }, what);

  async function advance(
    intent: Intent,
    tested: AgentServer,
    signal: AbortSignal,
    live?: AgentServer,
  ): Promise<SmokeStepResult> {
    signal.throwIfAborted();
    const before = readProgress(intent.smoke);
    const written = intent.terms.smokeTests[before.verdicts.length];
    const leftMs = intent.hold ? endOfTests(intent.hold.endsAt) - clock.now() : Infinity;
    const known = written && !live ? withoutLive(written, 0) : written;
    const test = known && { ...known, timeoutMs: Math.min(known.timeoutMs, Math.max(1, leftMs)) };
    // What is left over may be the other's: a held revision and the live one have the same threads.
    const agent = live && test && receiverOf(test, before.attempts.length) === 'live' ? live : tested;
    for (const made of before.leftovers) await cleanUp(made, { agent, clock, signal, left: noteLeftBehind(intent) });
    const progress = { ...before, leftovers: [] };
    const { smokeTests } = intent.terms;
    if (leftMs <= 0) {
      const { under, verdicts } = before;
      if (under && test)
        await cleanUp({ ...under, test: test.name }, { agent, clock, signal, left: noteLeftBehind(intent) });
      const open = smokeTests.slice(verdicts.length).map(({ name }) => ({ name, attempts: 0, verdict: outOfTime }));
      return tryConversations(intent, { ...progress, verdicts: [...verdicts, ...open] }, signal);
    }
    if (!test) return tryConversations(intent, progress, signal);
    const step = { intent, test, agent, signal, progress };
    if (progress.under?.kind === 'started') return look(step, progress.under);
    if (progress.under?.kind === 'prepared') return startAttempt(step, progress.under);
    const notBefore = progress.notBefore ?? 0;
    return clock.now() < notBefore && notBefore <= clock.now() + longestRestMs
      ? goOn(progress, notBefore)
      : goOn(prepare(step));
  }

  /** Chooses the ids of everything that an attempt makes; nothing is made before they are stored. */
  function prepare({ test, progress }: Step): Progress {
    const wantsWebhook = publicUrl !== undefined && !progress.withoutWebhook && !needsStream(test);
    const { token, hash } = makeToken();
    const under: PreparedAttempt = {
      kind: 'prepared',
      threadId: randomUUID(),
      ...(test.context === undefined ? {} : { assistantId: randomUUID() }),
      ...(wantsWebhook ? { tokenHash: hash } : {}),
    };
    tokens.keep(under.threadId, token);
    const { notBefore: _, ...rest } = progress;
    return { ...rest, under };
  }

  async function startAttempt(step: Step, prepared: PreparedAttempt): Promise<SmokeStepResult> {
    const { intent, test, agent, signal, progress } = step;
    const token = tokens.take(prepared.threadId);
    const made: AttemptResources = { test: test.name, threadId: prepared.threadId, assistantId: prepared.assistantId };
    // Another process chose these ids, and may have used them before it ended.
    if (token === undefined) return lost(step, made);
    const chosen = withChosenIds(agent, prepared);
    if (needsStream(test)) {
      return after(step, await sendTestRequest(test, { agent: chosen, clock, signal, left: noteLeftBehind(intent) }));
    }
    const webhook = prepared.tokenHash && `${publicUrl}/runs/${intent.id}?token=${token}`;
    const started = await startRun(test, { agent: chosen, clock, signal, webhook });
    if (started.kind === 'failed') {
      return after(step, await evidenceOfFailure(started.error, { agent, clock, signal }), made);
    }
    if (started.kind === 'too-slow') {
      return after(step, { kind: 'unreachable', why: 'the agent took too long to begin a run' }, made);
    }
    const { run, threadId, sentAt, refusedWebhook } = started;
    const isReported = webhook !== undefined && !refusedWebhook;
    const under: RunProgress = {
      kind: 'started',
      threadId,
      runId: run.run_id,
      assistantId: prepared.assistantId,
      tokenHash: isReported ? prepared.tokenHash : undefined,
      sentAt,
      deadline: sentAt + test.timeoutMs,
      looks: 0,
      reported: false,
      lookAt: 0,
    };
    const lookAt = nextPollAt(under, clock.now());
    const withoutWebhook = progress.withoutWebhook || refusedWebhook;
    return goOn({ ...progress, lost: 0, withoutWebhook, under: { ...under, lookAt } }, lookAt);
  }

  function lost(step: Step, made: AttemptResources): Promise<SmokeStepResult> | SmokeStepResult {
    const { under: _, ...progress } = step.progress;
    if (progress.lost < mostLost) return goOn({ ...progress, lost: progress.lost + 1, leftovers: [made] });
    const why = 'the process ended before the response arrived, several times';
    return after(step, { kind: 'unreachable', why }, made);
  }

  async function look(step: Step, requested: RunProgress): Promise<SmokeStepResult> {
    const { test, agent, signal, progress } = step;
    // A call before the scheduled time follows a notification, most likely the agent's webhook.
    const reported = requested.reported || clock.now() < requested.lookAt;
    const seen = await pollRun(test, requested, { agent, clock, signal });
    if (seen.kind === 'going-on') {
      const under = { ...requested, reported, looks: requested.looks + 1 };
      const lookAt = nextPollAt(under, clock.now());
      return goOn({ ...progress, under: { ...under, lookAt } }, lookAt);
    }
    const { threadId, assistantId, runId } = requested;
    const made = { test: test.name, threadId, assistantId, ...(seen.ended ? {} : { runId }) };
    // A URL that an agent cannot reach may cost it more than one delivery.
    const isSilent = requested.tokenHash !== undefined && !reported;
    const withoutWebhook = progress.withoutWebhook || isSilent;
    return after({ ...step, progress: { ...progress, withoutWebhook } }, seen.evidence, made);
  }

  /** What follows from one attempt: another one after a pause, or the test's verdict. */
  async function after(
    { intent, test, signal, progress }: Step,
    evidence: Evidence,
    made?: AttemptResources,
  ): Promise<SmokeStepResult> {
    const { under, ...rest } = progress;
    const attempts = [...progress.attempts, await grade(test, evidence, { deploymentId: intent.deploymentId, signal })];
    const ended: Progress = {
      ...rest,
      lost: 0,
      leftovers: made ? [made] : [],
      spent: [...progress.spent, ...(under?.tokenHash ? [under.tokenHash] : [])],
    };
    const next = await judge.nextAttempt({ test, attempts });
    if (next.kind === 'again') {
      const pauseMs = isPauseDue(test, attempts) ? pauseAfter(attempts.length, random) : 0;
      return goOn({ ...ended, attempts: next.kept, notBefore: clock.now() + pauseMs });
    }
    const secrets = async () =>
      (await secretsOf(intent.deploymentId, { control, clock, signal }))?.map(({ value }) => value) ?? null;
    const verdict =
      next.kind === 'unjudged' ? unjudged : await judge.conclude({ test, attempts, secrets: await secrets() });
    const tested = { name: test.name, attempts: attempts.length, verdict };
    return goOn({ ...ended, attempts: [], verdicts: [...progress.verdicts, tested] });
  }

  return { advance };
}

/** Poll intervals of a run (ms): short without a webhook, long with one. */
const pollWithoutWebhook = { first: 250, most: 5_000 };
const pollWithWebhook = { first: 5_000, most: 20_000 };
/** After a webhook, if the run does not show its end yet. */
const shortly = 500;

/** When a run is polled next (ms since the epoch): with growing intervals, and at its deadline. */
function nextPollAt({ deadline, looks, reported, tokenHash }: RunProgress, now: number): number {
  const { first, most } = tokenHash === undefined || reported ? pollWithoutWebhook : pollWithWebhook;
  const step = reported ? shortly : backoffMs(looks + 1, first, most);
  return now < deadline ? Math.min(now + step, deadline) : now + shortly;
}

/** Expectations about a stream's events: the nodes, and the times of the first and the last event. */
const ofTheStream: readonly Expectation['kind'][] = ['nodes', 'first-event', 'total'];

/** Whether a test needs a stream, or can be judged by what a run left behind. */
const needsStream = ({ expect, series }: Pick<SmokeTest, 'expect' | 'series'>): boolean =>
  series?.kind === 'live' || expect.some(({ kind }) => ofTheStream.includes(kind));
