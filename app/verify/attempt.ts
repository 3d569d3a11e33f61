import type { Logger } from '../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { backoffMs, type Clock } from '../../src/kit/clock.ts';
import type { SmokeTest } from '../../src/deploy/file/smoke-test.ts';
import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { needsStream, pollRun, startRun } from '../../src/deploy/smoke/background-run.ts';
import { overriding } from '../../src/kit/overriding.ts';
import { removeResources } from '../../src/deploy/smoke/remove-resources.ts';
import { sendTestRequest } from '../../src/deploy/smoke/send-test-request.ts';
import type { Evidence } from '../../src/deploy/rules/verdict-types.ts';
import type { IntentHeader } from '../reconcile/intent.ts';
import { createGrading } from './grading.ts';
import { isExpired } from '../reconcile/deadlines.ts';
import type { AttemptResources, PreparedAttempt, Progress, RunProgress, CurrentAttempt } from './progress.ts';
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

/** The agent of an attempt, and the intent that it is made for. */
export interface AttemptPlace {
  intent: IntentHeader;
  agent: AgentServer;
  signal: AbortSignal;
}

interface AttemptContext extends AttemptPlace {
  /** With the time that is left for it. */
  test: SmokeTest;
}

/** An attempt after a step, what it made that is to be removed, and that the agent accepts or calls no webhook. */
export interface AttemptStep {
  attempt: CurrentAttempt;
  made?: AttemptResources | undefined;
  withoutWebhook?: boolean;
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

  const noteLeft = (intent: IntentHeader, test: string) => (what: string) =>
    log.info({ intent: intent.id, deployment: intent.deploymentId }, `smoke test ${test} could not remove ${what}`);

  /** Removes what earlier attempts made. @returns the progress without it */
  async function removeLeftovers({ intent, agent, signal }: AttemptPlace, before: Progress): Promise<Progress> {
    const removed = before.leftovers.map((made) =>
      removeResources(made, { agent, clock, signal, left: noteLeft(intent, made.test) }),
    );
    await Promise.all(removed);
    return { ...before, leftovers: [] };
  }

  /** Chooses the ids of everything that an attempt makes; nothing is made before they are stored. */
  function prepare(test: SmokeTest, { withoutWebhook }: Progress): PreparedAttempt {
    const wantsWebhook = publicUrl !== undefined && !withoutWebhook && !needsStream(test);
    const { token, hash } = makeToken();
    const prepared: PreparedAttempt = {
      kind: 'prepared',
      threadId: randomUUID(),
      ...(test.context === undefined ? {} : { assistantId: randomUUID() }),
      ...(wantsWebhook ? { tokenHash: hash } : {}),
    };
    tokens.keep(prepared.threadId, token);
    return prepared;
  }

  /** Whether another process chose the ids of an attempt, and may have used them before it ended. */
  const isLost = (attempt: CurrentAttempt): boolean => attempt.kind === 'prepared' && !tokens.has(attempt.threadId);

  /** The attempt with its answer; what it made is removed in the next step. */
  async function answered(
    { intent, test, signal }: AttemptContext,
    response: Evidence,
    made?: AttemptResources,
  ): Promise<AttemptStep> {
    const evidence = await grade(test, response, { deploymentId: intent.deploymentId, signal });
    return { attempt: { kind: 'answered', evidence }, made };
  }

  /** Sends the request of an attempt, and waits for its answer where that is a stream. */
  async function start(context: AttemptContext, prepared: PreparedAttempt): Promise<AttemptStep> {
    const { intent, test, agent, signal } = context;
    const token = tokens.take(prepared.threadId);
    const { threadId, assistantId } = prepared;
    const made = { test: test.name, threadId, assistantId };
    if (token === undefined) {
      const why = 'the process ended before the response arrived, several times';
      return answered(context, { kind: 'unreachable', why }, made);
    }
    const chosen = withChosenIds(agent, prepared);
    if (needsStream(test)) {
      const left = noteLeft(intent, test.name);
      return answered(context, await sendTestRequest(test, { agent: chosen, clock, signal, left }));
    }
    const webhook = prepared.tokenHash && `${publicUrl}/runs/${intent.id}?token=${token}`;
    const started = await startRun(test, { agent: chosen, clock, signal, webhook });
    if (started.kind === 'failed') return answered(context, started.evidence, made);
    const { run, sentAt, refusedWebhook } = started;
    const times = { sentAt, deadline: sentAt + test.timeoutMs, lookAt: 0 };
    const attempt: RunProgress = {
      ...prepared,
      ...times,
      kind: 'started',
      runId: run.run_id,
      looks: 0,
      reported: false,
    };
    if (refusedWebhook) delete attempt.tokenHash;
    return { attempt, withoutWebhook: refusedWebhook };
  }

  /** Polls a run. `isNotified`: a notification came before its time, most likely an agent's webhook. */
  async function look(context: AttemptContext, requested: RunProgress, isNotified: boolean): Promise<AttemptStep> {
    const { test, agent, signal } = context;
    const seen = await pollRun(test, requested, {
      agent,
      clock,
      signal,
      isExpired: (deadline, ms) => isExpired(clock, requested.runId, deadline, ms),
    });
    if (seen.kind === 'going-on') return { attempt: { ...requested, looks: requested.looks + 1 } };
    const { threadId, assistantId, runId } = requested;
    const made = { test: test.name, threadId, assistantId, ...(seen.ended ? {} : { runId }) };
    const step = await answered(context, seen.evidence, made);
    // A URL that an agent cannot reach may cost it more than one delivery.
    return { ...step, withoutWebhook: requested.tokenHash !== undefined && !requested.reported && !isNotified };
  }

  /** Goes on with an attempt, or begins it. */
  async function step(context: AttemptContext, attempt: CurrentAttempt, isNotified: boolean): Promise<AttemptStep> {
    if (attempt.kind === 'answered') return { attempt };
    return attempt.kind === 'started' ? look(context, attempt, isNotified) : start(context, attempt);
  }

  return { prepare, isLost, step, removeLeftovers };
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
      agent.createAssistant({ ...request, assistant_id: assistantId, if_exists: 'do_nothing' }, options),
  });

/** Poll intervals of a run (ms): short without a webhook, long with one. */
const pollWithoutWebhook = { first: 250, most: 5_000 };
const pollWithWebhook = { first: 5_000, most: 20_000 };
/** After a webhook, if the run does not show its end yet. */
const shortly = 500;

/** One of so many runs with the time of its next poll: with growing intervals, and at its deadline. */
export function dueAgain(run: RunProgress, now: number, runs: number): RunProgress {
  const { deadline, looks, reported, tokenHash } = run;
  const { first, most } = tokenHash === undefined || reported ? pollWithoutWebhook : pollWithWebhook;
  const step = reported ? shortly * runs : backoffMs(looks + 1, first, most);
  return { ...run, lookAt: now < deadline ? Math.min(now + step, deadline) : now + shortly * runs };
}
