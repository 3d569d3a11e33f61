import { pause, untilAborted } from '../../../kit/clock.ts';
import type { RunningAgent } from '../compute/compute.ts';
import { holdExpiredMessage, nextHoldStep } from '../revisions/hold-decision.ts';
import type { RevisionRecord } from '../store/tables.ts';
import { fail, RevisionInterrupted, type RolloutDependencies, type RolloutJob } from './rollout-job.ts';

/** How much longer (ms) an agent's own hold lasts than its revision's: the agent takes time to start. */
const marginMs = 300_000;
/** How long (ms) a held agent may take to stop. */
const stopMs = 2_000;
/** How often (ms) to look for a decision without a notification. */
const pollMs = 30_000;

/** Whether a revision gets no traffic until a decision. */
export const isHeld = ({ hold_seconds, hold_decision }: RevisionRecord): boolean =>
  hold_seconds !== null && hold_decision === null;

/** The latest time until which an agent that is about to start is held; undefined where its revision is not held. */
export function holdUntil(revision: RevisionRecord, now: number): Date | undefined {
  if (!isHeld(revision)) return undefined;
  const endsAt = revision.hold_ends_at?.getTime() ?? now + (revision.hold_seconds ?? 0) * 1_000;
  return new Date(Math.max(endsAt, now) + marginMs);
}

/**
 * Holds a healthy agent until it is promoted: returns true once it serves all work. Otherwise returns false after the
 * agent and the revision have ended. If the service stops, the revision stays, and the next start holds it again.
 */
export async function hold(job: RolloutJob, agent: RunningAgent, tools: RolloutDependencies): Promise<boolean> {
  const { deployment, revision, deployLog } = job;
  const { store, retry, gateway } = tools;
  // Before the stored hold gets its end: a client that reads it expects the held agent to respond.
  const withdraw = gateway.hold(deployment.id, revision.id, agent);
  await retry(() => store.beginHold(revision.id));
  deployLog.write('info', 'The agent is healthy and held: it gets no traffic until the revision is promoted.');
  await deployLog.flush();
  await tools.step?.('held', revision.id);
  const end = await waitForDecision(job, agent, tools).catch(async (error: unknown) => {
    withdraw(false);
    await agent.stop(stopMs);
    throw error;
  });
  if (end !== 'stopping') await tools.step?.('decided', revision.id);
  withdraw(end === 'promoted');
  if (end === 'promoted') {
    const servesAll = (await agent.endHold?.('promote')) ?? false;
    await tools.step?.('promoted', revision.id);
    if (servesAll) return true;
    await agent.stop(stopMs);
    await fail(job, 'DEPLOY_FAILED', 'The held agent did not begin to serve. Redeploy the revision.', tools);
    return false;
  }
  // When the service stops, the agent keeps its runs for the next start.
  if (end !== 'stopping') await agent.endHold?.('discard');
  await agent.stop(stopMs);
  if (end === 'discarded') {
    await tools.step?.('discarded', revision.id);
    deployLog.write('info', 'The revision was discarded; its agent was stopped.');
  } else if (end !== 'stopping') {
    await fail(job, 'DEPLOY_FAILED', `The agent's process ended while it was held: ${end.how}.`, tools);
  }
  await deployLog.flush();
  return false;
}

type HoldEnd = 'promoted' | 'discarded' | 'stopping' | { how: string };

async function waitForDecision(job: RolloutJob, agent: RunningAgent, tools: RolloutDependencies): Promise<HoldEnd> {
  const { deployment, revision, signal } = job;
  const { store, retry, builds, holdNotifier } = tools;
  const { clock } = builds;
  const [ended, aborted] = [agent.exited.then((how) => ({ how })), untilAborted(signal)];
  while (!signal.aborted) {
    // Subscribe before the decision is read, so that none is missed.
    const notification = holdNotifier.nextNotification(deployment.id);
    const current = await retry(() => store.findRevision(deployment.id, revision.id));
    const next = nextHoldStep(current, clock.now());
    if (next.kind === 'promoted') return 'promoted';
    if (next.kind === 'ended') return 'discarded';
    if (next.kind === 'over') {
      const reason = holdExpiredMessage(revision.hold_seconds);
      const decision = { why: reason, message: reason };
      await retry(() => store.decideHold(deployment.id, revision.id, 'discarded', decision));
      continue;
    }
    const waitEnd = new AbortController();
    const waited = pause(builds.clock, Math.min(next.ms, pollMs), AbortSignal.any([waitEnd.signal, signal]));
    const exited = await Promise.race([notification, waited.then(() => undefined), ended, aborted]);
    waitEnd.abort();
    if (exited && !signal.aborted) return exited;
  }
  return signal.reason instanceof RevisionInterrupted ? 'discarded' : 'stopping';
}
