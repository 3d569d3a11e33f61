import type { Logger } from '../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { backoffMs, type Clock } from '../../src/kit/clock.ts';
import type { Expectation, SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { pollRun, startRun } from '../../src/deploy/smoke/background-run.ts';
import { overriding } from '../../src/kit/overriding.ts';
import { removeResources } from '../../src/deploy/smoke/remove-resources.ts';
import { evidenceOfFailure, sendTestRequest } from '../../src/deploy/smoke/send-test-request.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import type { SmokeWaiting } from '../context.ts';
import type { IntentHeader } from '../reconcile/intent.ts';
import { createGrading } from './grading.ts';
import { isExpired } from '../reconcile/deadlines.ts';
import {
  mostLost,
  writeProgress,
  type AttemptResources,
  type PreparedAttempt,
  type Progress,
  type RunProgress,
} from './progress.ts';
import { makeToken, unusedTokens } from './receive-run.ts';

export interface AttemptOptions {
  clock: Clock;
  /** From 0 up to 1. */
  random: () => number;
  /** Source of a deployment's secrets, which its agent may repeat. */
  control: ControlService;
  /** This App's URL for agents' webhooks, without a trailing slash; without it runs are polled. */
  publicUrl?: string | undefined;
  /** The addresses of graders that may get answers; without them none does. */
  graderUrls?: readonly string[] | undefined;
  /** Receives what could not be removed at an agent. */
  log: Logger;
}

/** Between two attempts no more than this is waited (ms), whatever the time of day does meanwhile. */
const longestRestMs = 60_000;

/** One step of an attempt at one test, and all that it needs. */
export interface AttemptStep<Result> {
  intent: IntentHeader;
  test: SmokeTest;
  agent: AgentServer;
  signal: AbortSignal;
  progress: Progress;
  /** What follows from the evidence of a whole attempt; `ended` is the progress without what was under way. */
  after: (evidence: Evidence, ended: Progress) => Promise<Result>;
}

/**
 * Makes attempts at tests in small steps, each of which returns the state to store before the next: ids are stored
 * before they are used, and threads are removed after their result is stored. So a crash anywhere loses no response and
 * leaves no thread behind. A run whose process ended before its id was stored is abandoned and started again.
 *
 * A test without stream expectations is a background run, reported by a webhook if there is a public URL and polled
 * otherwise. Any other test streams its run within one step, up to the test's timeout.
 */
export function createAttempts({ clock, random, control, publicUrl, graderUrls = [], log }: AttemptOptions) {
  const tokens = unusedTokens();
  const grade = createGrading({ control, clock, random, graderUrls });

  const goOn = (progress: Progress, at = clock.now()): SmokeWaiting => ({
    kind: 'waiting',
    state: writeProgress(progress),
    at,
  });
  const noteLeft = (intent: IntentHeader, test: string) => (what: string) =>
    log.info({ intent: intent.id, deployment: intent.deploymentId }, `smoke test ${test} could not remove ${what}`);

  /** Removes what earlier attempts made. @returns the progress without it */
  async function cleaned(
    intent: IntentHeader,
    before: Progress,
    { agent, signal }: { agent: AgentServer; signal: AbortSignal },
  ): Promise<Progress> {
    for (const made of before.leftovers)
      await removeResources(made, { agent, clock, signal, left: noteLeft(intent, made.test) });
    return { ...before, leftovers: [] };
  }

  /** The same with what is under way, where no step of this test follows. */
  async function abandoned(
    intent: IntentHeader,
    { under, leftovers, ...rest }: Progress,
    test: string | undefined,
    at: { agent: AgentServer; signal: AbortSignal },
  ): Promise<Progress> {
    const open = under ? [{ ...under, test: test ?? 'that is over' }] : [];
    const spent = [...rest.spent, ...(under?.tokenHash ? [under.tokenHash] : [])];
    return cleaned(intent, { ...rest, spent, leftovers: [...leftovers, ...open] }, at);
  }

  /** Goes on with the attempt that is under way, or prepares the next one. */
  async function attempt<Result>(step: AttemptStep<Result>): Promise<Result | SmokeWaiting> {
    const { progress } = step;
    if (progress.under?.kind === 'started') return look(step, progress.under);
    if (progress.under?.kind === 'prepared') return startAttempt(step, progress.under);
    const notBefore = progress.notBefore ?? 0;
    return clock.now() < notBefore && notBefore <= clock.now() + longestRestMs
      ? goOn(progress, notBefore)
      : goOn(prepare(step));
  }

  /** Chooses the ids of everything that an attempt makes; nothing is made before they are stored. */
  function prepare({ test, progress }: Pick<AttemptStep<never>, 'test' | 'progress'>): Progress {
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

  async function startAttempt<Result>(
    step: AttemptStep<Result>,
    prepared: PreparedAttempt,
  ): Promise<Result | SmokeWaiting> {
    const { intent, test, agent, signal, progress } = step;
    const token = tokens.take(prepared.threadId);
    const made: AttemptResources = { test: test.name, threadId: prepared.threadId, assistantId: prepared.assistantId };
    // Another process chose these ids, and may have used them before it ended.
    if (token === undefined) return lost(step, made);
    const chosen = withChosenIds(agent, prepared);
    if (needsStream(test)) {
      return after(
        step,
        await sendTestRequest(test, { agent: chosen, clock, signal, left: noteLeft(intent, test.name) }),
      );
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

  async function lost<Result>(step: AttemptStep<Result>, made: AttemptResources): Promise<Result | SmokeWaiting> {
    const { under: _, ...progress } = step.progress;
    if (progress.lost < mostLost) return goOn({ ...progress, lost: progress.lost + 1, leftovers: [made] });
    const why = 'the process ended before the response arrived, several times';
    return after(step, { kind: 'unreachable', why }, made);
  }

  async function look<Result>(step: AttemptStep<Result>, requested: RunProgress): Promise<Result | SmokeWaiting> {
    const { test, agent, signal, progress } = step;
    // A call before the scheduled time follows a notification, most likely the agent's webhook.
    const reported = requested.reported || clock.now() < requested.lookAt;
    const seen = await pollRun(test, requested, {
      agent,
      clock,
      signal,
      isExpired: (deadline, ms) => isExpired(clock, requested.runId, deadline, ms),
    });
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

  /** The attempt has ended: what it made is removed in the next step. */
  async function after<Result>(
    { intent, test, signal, progress, after: follow }: AttemptStep<Result>,
    evidence: Evidence,
    made?: AttemptResources,
  ): Promise<Result> {
    const { under, ...rest } = progress;
    const spent = [...progress.spent, ...(under?.tokenHash ? [under.tokenHash] : [])];
    const graded = await grade(test, evidence, { deploymentId: intent.deploymentId, signal });
    return follow(graded, { ...rest, lost: 0, leftovers: made ? [made] : [], spent });
  }

  return { attempt, cleaned, abandoned, goOn };
}

/**
 * Wraps the agent so that threads and assistants get ids that were chosen and stored beforehand: another process can
 * remove them if this one ends first.
 */
const withChosenIds = (agent: AgentServer, { threadId, assistantId }: PreparedAttempt): AgentServer =>
  overriding<Pick<AgentServer, 'createThread' | 'createAssistant'>, AgentServer>(agent, {
    createThread: (request, options) =>
      agent.createThread({ ...request, thread_id: threadId, if_exists: 'do_nothing' }, options),
    createAssistant: (request, options) =>
      agent.createAssistant(
        { ...request, ...(assistantId ? { assistant_id: assistantId, if_exists: 'do_nothing' } : {}) },
        options,
      ),
  });

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
