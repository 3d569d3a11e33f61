import { beginTests } from './begin-tests.ts';
import { conclude } from './conclude.ts';
import { decideAboutHeld } from './held-revision.ts';
import { followRevision } from './follow-revision.ts';
import { notesOfUncompared, withNotes } from './live-answers.ts';
import { measureLive } from './measure-live.ts';
import { promoteProven } from './promote-proven.ts';
import { requestRollback } from './request-rollback.ts';
import type { Intent, IntentIn, SmokeState, Testing } from './intent.ts';
import { nextStep, promotesKey, requestsKey, runningOf, type ActiveKind, type StepOf } from './next-step.ts';
import { mayAppear, resolveSentRequest } from './resolve-sent-request.ts';
import type { DeploymentQueue } from './store.ts';
import { takeRequests } from './take-requests.ts';
import { handleTransientError, isRetryable, isTransientError, retryLater } from './transient-error.ts';
import {
  saveIntents,
  continued,
  endIntent,
  headOf,
  requeueAfter,
  type StepResult,
  type ReconcileContext,
} from './reconcile-context.ts';
import { reportVerdict } from '../verify/report-verdict.ts';
import { addressProblem } from '../../src/deploy/smoke/open-test.ts';
import { unprovenVerdict } from '../../src/deploy/smoke/smoke.ts';
import type { TestResult } from '../../src/deploy/machine/state.ts';
import { findEffect } from '../../src/deploy/machine/steps/read-deployment.ts';
import { followFound } from './begin-following.ts';
import { observeDeployment, readerOf } from './observation.ts';

/** Limit of steps in one pass, against an endless loop: the next job continues. */
const maxSteps = 60;

/** Runs steps until the queue is idle. @returns the time of the next pass (ms since the epoch), if any. */
export async function takeSteps(work: ReconcileContext): Promise<number | undefined> {
  const { context, lease, signal } = work;
  const deferred = new Map<string, number>();
  for (let steps = 0; steps < maxSteps; steps += 1) {
    if (signal.aborted) return context.clock.now();
    const deploymentQueue = await context.store.deploymentQueue(lease.deploymentId);
    const open = await context.store.openIntents(lease.deploymentId);
    // An early notification says nothing about a followed revision: it is observed at its own time.
    const running = runningOf(open);
    if (steps === 0 && lease.nextAt !== undefined && running?.state === 'following') {
      deferred.set(running.id, lease.nextAt);
    }
    for (const intent of steps === 0 ? open : [])
      if (intent.state === 'undoing' && intent.verdictDueAt !== undefined && intent.verdictDueAt > context.clock.now())
        deferred.set(intent.id, intent.verdictDueAt);
    const step = nextStep(deploymentQueue, open, deferred);
    if (step.kind === 'requeue') return step.until;
    const result = await perform(work, step, { deploymentQueue, open }).catch((error: unknown) => {
      // Failures of other services are expected; each step handles them in its own way.
      if (!isTransientError(error) || step.kind === 'promote') throw error;
      return handleTransientError(work, step, open, error);
    });
    if (result.kind === 'continue') continue;
    deferred.set(result.of ?? keyOf(step), result.until);
  }
  context.log.info(`deployment ${lease.deploymentId} took ${maxSteps} steps at once, and continues later`);
  return context.clock.now() + 1_000;
}

/** What is deferred where a step has to wait. */
function keyOf(step: StepOf<ActiveKind>): string {
  if (step.kind === 'requests') return requestsKey;
  return step.kind === 'promote' ? promotesKey : step.intent.id;
}

interface QueueSeen {
  deploymentQueue: DeploymentQueue;
  open: readonly Intent[];
}

const effects: {
  [Kind in ActiveKind]: (work: ReconcileContext, step: StepOf<Kind>, seen: QueueSeen) => Promise<StepResult>;
} = {
  measure: (work, { intent }) => measureLive(work, intent),
  resolve: (work, { intent }) => resolveSentRequest(work, intent),
  follow: (work, { intent }) => followRevision(work, intent),
  smoke: (work, { intent }) => smokeStep(work, intent),
  'decide-hold': (work, { intent }) => decideAboutHeld(work, intent),
  conclude: (work, { intent }) => conclude(work, intent),
  requests: (work, { busyWith }, { deploymentQueue, open }) => takeRequests(work, deploymentQueue, open, busyWith),
  'roll-back': (work, { intent, revisionId }) => requestRollback(work, intent, revisionId),
  test: (work, { intent, revisionId }) => beginTests(work, intent, revisionId),
  expect: (work, { intent }) => expectRevision(work, intent),
  promote: (work, { intentId }) => promoteProven(work, intentId),
  'report-verdict': (work, { intent }) => reportDue(work, intent),
};

const perform = <Kind extends ActiveKind>(work: ReconcileContext, step: StepOf<Kind>, seen: QueueSeen) =>
  effects[step.kind](work, step, seen);

/** Reports the verdict on a revision that is being rolled back, and again later if the service is unavailable. */
async function reportDue(work: ReconcileContext, intent: IntentIn<'undoing'>): Promise<StepResult> {
  const { verdictDueAt: _, ...rest } = intent;
  const error = await reportVerdict(work, intent);
  if (isTransientError(error) && isRetryable(error)) {
    const later = retryLater(work, error, intent.createdAt);
    // Stored, because the next pass begins with the next look at the rollback.
    if (later.kind === 'requeue') await saveIntents(work, [{ ...intent, verdictDueAt: later.until }]);
    return later;
  }
  return saveIntents(work, [rest]);
}

/** Advances the smoke tests of a live or a held revision, until they have to wait. */
async function smokeStep(work: ReconcileContext, intent: Testing): Promise<StepResult> {
  const { smoke, agentAt } = work.context;
  const { hold, terms } = intent;
  const agentUrl = hold?.address ?? intent.agentUrl;
  if (terms.smokeTests.length === 0 && !hold)
    return conclude(work, { ...intent, state: 'concluding', verdict: { kind: 'none', tests: [] } });
  const problem = addressProblem(agentUrl);
  if (agentUrl === undefined || problem !== undefined) {
    const verdict = unprovenVerdict(terms.smokeTests, 'no-address', problem ?? '');
    return saveIntents(work, [withProof(intent, { verdict })]);
  }
  const live = hold?.live === undefined ? undefined : agentAt(hold.live);
  const keep = async (state: SmokeState) => void (await saveIntents(work, [{ ...intent, smoke: state }]));
  const result = await smoke.advance(intent, agentAt(agentUrl), work.signal, keep, live);
  // The verdict is stored before anything follows from it, so that the tests need not run again.
  if (result.kind === 'done') {
    const { verdict, compared = [] } = result;
    const proof = { verdict, ...(compared.length > 0 ? { compared } : {}) };
    return saveIntents(work, [withProof(withNotes(intent, notesOfUncompared(intent)), proof)]);
  }
  await saveIntents(work, [{ ...intent, smoke: result.state }]);
  // Continue here after storing: only this process has the unused tokens.
  return result.at <= work.context.clock.now() ? continued : { kind: 'requeue', until: result.at };
}

function withProof(intent: Testing, proof: TestResult): IntentIn<'deciding' | 'concluding'> {
  const { hold } = intent;
  return hold ? { ...intent, ...proof, state: 'deciding', hold } : { ...intent, ...proof, state: 'concluding' };
}

const lookMs = 10_000;

/** The hosted service builds pushes by itself: waits for its revision of this commit, and makes none. */
async function expectRevision(work: ReconcileContext, intent: IntentIn<'expecting'>): Promise<StepResult> {
  const observation = await observeDeployment(work);
  const { deployment, liveRevision: also } = observation;
  const seen = { deployment, former: intent.former.latest, also };
  const { found } = await findEffect({ commit: intent.commit }, seen, readerOf(work));
  if (found.kind === 'made') return followFound(work, intent, found.revision.id, 'found', observation);
  if (mayAppear(work, intent, found.kind === 'may-be', intent.createdAt)) return requeueAfter(work, lookMs);
  const head = await headOf(work, intent);
  if (head?.sha !== intent.commit) {
    // Another commit is the head by now: sort the requests again, this one included.
    return saveIntents(work, [{ ...intent, state: 'requested' }]);
  }
  return endIntent(work, intent, {
    kind: 'absent',
    reason: 'The service builds pushes by itself, and made no revision of this commit in time.',
    advice:
      "Check build_on_push and the service's access to the repository, or press Re-run to have the App request it.",
  });
}
