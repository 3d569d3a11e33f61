import { pause, untilAborted } from '../../../kit/clock.ts';
import type { RunningAgent } from '../compute/compute.ts';
import { holdIsOver, nextHoldStep } from '../revisions/hold-decision.ts';
import type { RevisionRecord } from '../store/tables.ts';
import { fail, RevisionInterrupted, type RolloutDependencies, type RolloutJob } from './rollout-job.ts';

/** How long (ms) the hold of an agent may outlast the revision's: the start counts as well. */
const marginMs = 300_000;
/** How long (ms) an agent that was held has for its last steps. */
const stopMs = 2_000;
/** How often (ms) a decision is looked for without a notification. */
const lookMs = 30_000;

/** Whether a revision waits for a decision before it gets traffic. */
export const isHeld = ({ hold_seconds, hold_decision }: RevisionRecord): boolean =>
  hold_seconds !== null && hold_decision === null;

/** The latest end of the hold of a revision that is about to be started; undefined where it is not held. */
export function holdUntil(revision: RevisionRecord, now: number): Date | undefined {
  if (!isHeld(revision)) return undefined;
  const endsAt = revision.hold_ends_at?.getTime() ?? now + (revision.hold_seconds ?? 0) * 1_000;
  return new Date(Math.max(endsAt, now) + marginMs);
}

/**
 * Holds a healthy agent until it is promoted. True where it takes part in all work from now on; otherwise it has ended,
 * and so has the revision, unless the service stops: then the next start holds it again.
 */
export async function hold(job: RolloutJob, agent: RunningAgent, tools: RolloutDependencies): Promise<boolean> {
  const { deployment, revision, deployLog } = job;
  const { store, retrying, gateway } = tools;
  // Before the hold has an end, from which callers know that it answers.
  const withdraw = gateway.hold(deployment.id, revision.id, agent);
  await retrying(() => store.beginHold(revision.id));
  deployLog.write('info', 'The agent is healthy and held: it gets no traffic until the revision is promoted.');
  await deployLog.flush();
  await tools.step?.('held', revision.id);
  const end = await untilDecided(job, agent, tools).catch(async (error: unknown) => {
    withdraw(false);
    await agent.stop(stopMs);
    throw error;
  });
  if (end !== 'stopping') await tools.step?.('decided', revision.id);
  withdraw(end === 'promoted');
  if (end === 'promoted') {
    const takesPart = (await agent.endHold?.('promote')) ?? false;
    await tools.step?.('promoted', revision.id);
    if (takesPart) return true;
    await agent.stop(stopMs);
    await fail(job, 'DEPLOY_FAILED', 'The held agent did not begin to serve. Redeploy the revision.', tools);
    return false;
  }
  // While the service stops its runs are kept for its next start.
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

async function untilDecided(job: RolloutJob, agent: RunningAgent, tools: RolloutDependencies): Promise<HoldEnd> {
  const { deployment, revision, signal } = job;
  const { store, retrying, builds, holdNews } = tools;
  const { clock } = builds;
  const [ended, aborted] = [agent.exited.then((how) => ({ how })), untilAborted(signal)];
  while (!signal.aborted) {
    // Before the decision is read, so that none is missed.
    const news = holdNews.next(deployment.id);
    const now = await retrying(() => store.findRevision(deployment.id, revision.id));
    const next = nextHoldStep(now, clock.now());
    if (next.kind === 'promoted') return 'promoted';
    if (next.kind === 'ended') return 'discarded';
    if (next.kind === 'over') {
      const why = holdIsOver(revision.hold_seconds);
      const decision = { why, message: why };
      await retrying(() => store.decideHold(deployment.id, revision.id, 'discarded', decision));
      continue;
    }
    const over = new AbortController();
    const waited = pause(builds.clock, Math.min(next.ms, lookMs), AbortSignal.any([over.signal, signal]));
    const exited = await Promise.race([news, waited.then(() => undefined), ended, aborted]);
    over.abort();
    if (exited && !signal.aborted) return exited;
  }
  return signal.reason instanceof RevisionInterrupted ? 'discarded' : 'stopping';
}
