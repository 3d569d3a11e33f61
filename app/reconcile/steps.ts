import { conclude } from './conclude.ts';
import { expectRevision } from './expect.ts';
import { follow } from './follow.ts';
import { goBack } from './go-back.ts';
import type { Intent } from './intent.ts';
import { nextStep, runningOf, requests, type Step } from './next-step.ts';
import { settle } from './settle.ts';
import { smokeStep } from './smoke-step.ts';
import type { DeploymentQueue } from './store.ts';
import { takeRequests } from './take-requests.ts';
import { isTransientError } from './transient-error.ts';
import { handleTransientError } from './handle-transient-error.ts';
import type { StepResult, ReconcileContext } from './reconcile-context.ts';

/** Limit of steps in one pass, against an endless loop: the next job continues. */
const mostSteps = 60;

/** Runs steps until the queue is idle. @returns the time of the next pass (ms since the epoch), if any. */
export async function takeSteps(work: ReconcileContext): Promise<number | undefined> {
  const { context, lease, signal } = work;
  const deferred = new Map<string, number>();
  for (let steps = 0; steps < mostSteps; steps += 1) {
    if (signal.aborted) return context.clock.now();
    const deploymentQueue = await context.store.deploymentQueue(lease.deploymentId);
    const open = await context.store.openIntents(lease.deploymentId);
    if (steps === 0) letRest(open, lease.nextAt, deferred);
    const step = nextStep(deploymentQueue, open, deferred);
    if (step.kind === 'requeue') return step.until;
    const result = await taken(work, step, deploymentQueue, open);
    if (result.kind === 'continue') continue;
    if (result.of !== undefined) deferred.set(result.of, result.until);
    else deferred.set(step.kind === 'requests' ? requests : step.intent.id, result.until);
  }
  context.log(`deployment ${lease.deploymentId} took ${mostSteps} steps at once, and continues later`);
  return context.clock.now() + 1_000;
}

/** An early notification says nothing about a followed revision: it is observed at its own time. */
function letRest(open: readonly Intent[], nextAt: number | undefined, deferred: Map<string, number>): void {
  const running = runningOf(open);
  if (nextAt !== undefined && running?.state === 'following') deferred.set(running.id, nextAt);
}

async function taken(
  work: ReconcileContext,
  step: Exclude<Step, { kind: 'requeue' }>,
  deploymentQueue: DeploymentQueue,
  open: readonly Intent[],
): Promise<StepResult> {
  try {
    return await effectOf(work, step, deploymentQueue, open);
  } catch (error) {
    // Failures of other services are expected; each step handles them in its own way.
    if (!isTransientError(error)) throw error;
    return handleTransientError(work, step, open, error);
  }
}

function effectOf(
  work: ReconcileContext,
  step: Exclude<Step, { kind: 'requeue' }>,
  deploymentQueue: DeploymentQueue,
  open: readonly Intent[],
): Promise<StepResult> {
  switch (step.kind) {
    case 'settle':
      return settle(work, step.intent);
    case 'follow':
      return follow(work, step.intent);
    case 'smoke':
      return smokeStep(work, step.intent);
    case 'conclude':
      return conclude(work, step.intent);
    case 'requests':
      return takeRequests(work, deploymentQueue, open, step.busyWith);
    case 'go-back':
      return goBack(work, step.intent);
    case 'expect':
      return expectRevision(work, step.intent);
  }
}
