import { isDeepStrictEqual } from 'node:util';
import { pause, type Clock } from '../../../kit/clock.ts';
import type { AgentSpec, AgentStart, Compute, IdleAgent, RemovedDeployment, RunningAgent } from './compute.ts';
import { lastLogMessages } from './log-line.ts';

const maxIdleMs = 600_000;

interface IdleEntry {
  spec: AgentSpec;
  agent: IdleAgent;
  expiry: AbortController;
}

/**
 * Wraps a compute: keeps a replaced agent loaded for a while, so that a redeployment of its build resumes it at once.
 *
 * @param maxAgents the most idle agents, one per deployment. They end when the compute is closed.
 */
export function idleCompute(compute: Compute, { clock, maxAgents = 3 }: { clock: Clock; maxAgents?: number }) {
  const idleEntries = new Map<string, IdleEntry>();
  const ending = new Set<Promise<void>>();
  let closed = false;

  function evict(deploymentId: string): Promise<void> {
    const found = idleEntries.get(deploymentId);
    if (!found) return Promise.resolve();
    idleEntries.delete(deploymentId);
    found.expiry.abort();
    const end: Promise<void> = found.agent.stop().finally(() => ending.delete(end));
    ending.add(end);
    return end;
  }

  /** Stops an idle agent, and logs it unless the compute was closed. */
  async function expire(entry: IdleEntry): Promise<void> {
    const { spec } = entry;
    if (idleEntries.get(spec.deploymentId) !== entry) return;
    await evict(spec.deploymentId);
    if (!closed) spec.log('info', lastLogMessages.noLongerNeeded);
  }

  function keepIdle(spec: AgentSpec, agent: IdleAgent): void {
    const { deploymentId } = spec;
    const replacedEntry = idleEntries.get(deploymentId);
    if (replacedEntry) void expire(replacedEntry);
    const expiry = new AbortController();
    const entry: IdleEntry = { spec, agent, expiry };
    idleEntries.set(deploymentId, entry);
    void pause(clock, maxIdleMs, expiry.signal).then(() => expire(entry));
    void agent.exited.then(() => expire(entry));
    const [oldest] = idleEntries.values();
    if (idleEntries.size > maxAgents && oldest) void expire(oldest);
  }

  /** Wraps an agent so that stopping without a time limit makes it idle instead. */
  function idleWhenStopped(spec: AgentSpec, agent: RunningAgent): RunningAgent {
    const { makeIdle } = agent;
    if (!makeIdle) return agent;
    let becameIdle = false;
    const stop = async (withinMs?: number): Promise<void> => {
      if (withinMs !== undefined || closed) return agent.stop(withinMs);
      const idleAgent = await makeIdle();
      if (!idleAgent) return;
      if (closed) return idleAgent.stop();
      becameIdle = true;
      keepIdle(spec, idleAgent);
    };
    return { ...agent, stop, isIdle: () => becameIdle };
  }

  /** Resumes the idle agent of a deployment; undefined where there is none that fits. */
  async function resume(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart | undefined> {
    const found = idleEntries.get(spec.deploymentId);
    // A resumed agent can't be held: it takes all work at once.
    if (!found || spec.holdUntil || !canResumeAs(found.spec, spec)) return undefined;
    idleEntries.delete(spec.deploymentId);
    found.expiry.abort();
    const start = await found.agent.wake(spec, signal);
    return start.kind === 'running' || signal.aborted ? start : undefined;
  }

  return {
    async start(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
      const start = (await resume(spec, signal)) ?? (await compute.start(spec, signal));
      return start.kind === 'running' ? { kind: 'running', agent: idleWhenStopped(spec, start.agent) } : start;
    },
    async remove(deployment: RemovedDeployment): Promise<void> {
      await evict(deployment.id);
      await compute.remove?.(deployment);
    },
    async close(): Promise<void> {
      closed = true;
      for (const id of idleEntries.keys()) void evict(id);
      await Promise.all(ending);
    },
  };
}

/** Whether an agent of one spec can resume as another: all is equal except revision, log and hold. */
export function canResumeAs(one: AgentSpec, other: AgentSpec): boolean {
  const comparedFields = ({ revisionId: _revision, log: _log, holdUntil: _hold, ...rest }: AgentSpec) => rest;
  return isDeepStrictEqual(comparedFields(one), comparedFields(other));
}
