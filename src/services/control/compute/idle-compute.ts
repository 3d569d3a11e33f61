import { isDeepStrictEqual } from 'node:util';
import { pause, type Clock } from '../../../kit/clock.ts';
import type { AgentSpec, AgentStart, Compute, IdleAgent, RemovedDeployment, RunningAgent } from './compute.ts';
import { lastLogMessages } from './log-line.ts';

const keepMs = 600_000;

interface KeptAgent {
  spec: AgentSpec;
  agent: IdleAgent;
  over: AbortController;
}

/**
 * Keeps a replaced agent loaded for a while: a redeployment of its build resumes it, and serves at once.
 *
 * @param most the most idle agents, one per deployment. They end when the compute is closed.
 */
export function idleCompute(compute: Compute, { clock, most = 3 }: { clock: Clock; most?: number }) {
  const kept = new Map<string, KeptAgent>();
  const ending = new Set<Promise<void>>();
  let closed = false;

  function evict(deploymentId: string): Promise<void> {
    const found = kept.get(deploymentId);
    if (!found) return Promise.resolve();
    kept.delete(deploymentId);
    found.over.abort();
    const end: Promise<void> = found.agent.stop().finally(() => ending.delete(end));
    ending.add(end);
    return end;
  }

  /** Stops an agent whose time is up, and logs it where its log is still open. */
  async function expire(mine: KeptAgent): Promise<void> {
    const { spec } = mine;
    if (kept.get(spec.deploymentId) !== mine) return;
    await evict(spec.deploymentId);
    if (!closed) spec.log('info', lastLogMessages.noLongerNeeded);
  }

  function keep(spec: AgentSpec, agent: IdleAgent): void {
    const { deploymentId } = spec;
    const former = kept.get(deploymentId);
    if (former) void expire(former);
    const over = new AbortController();
    const mine: KeptAgent = { spec, agent, over };
    kept.set(deploymentId, mine);
    void pause(clock, keepMs, over.signal).then(() => expire(mine));
    void agent.exited.then(() => expire(mine));
    const [oldest] = kept.values();
    if (kept.size > most && oldest) void expire(oldest);
  }

  /** Wraps an agent so that stopping without a time limit makes it idle instead. */
  function idle(spec: AgentSpec, agent: RunningAgent): RunningAgent {
    const { makeIdle } = agent;
    if (!makeIdle) return agent;
    let rested = false;
    const stop = async (withinMs?: number): Promise<void> => {
      if (withinMs !== undefined || closed) return agent.stop(withinMs);
      const isIdle = await makeIdle();
      if (!isIdle) return;
      if (closed) return isIdle.stop();
      rested = true;
      keep(spec, isIdle);
    };
    return { ...agent, stop, isIdle: () => rested };
  }

  async function resumed(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart | undefined> {
    const found = kept.get(spec.deploymentId);
    // An idle agent would take part in all work at once.
    if (!found || spec.holdUntil || !isSame(found.spec, spec)) return undefined;
    kept.delete(spec.deploymentId);
    found.over.abort();
    const start = await found.agent.wake(spec, signal);
    return start.kind === 'running' || signal.aborted ? start : undefined;
  }

  return {
    async start(spec: AgentSpec, signal: AbortSignal): Promise<AgentStart> {
      const start = (await resumed(spec, signal)) ?? (await compute.start(spec, signal));
      return start.kind === 'running' ? { kind: 'running', agent: idle(spec, start.agent) } : start;
    },
    async remove(deployment: RemovedDeployment): Promise<void> {
      await evict(deployment.id);
      await compute.remove?.(deployment);
    },
    async close(): Promise<void> {
      closed = true;
      for (const id of kept.keys()) void evict(id);
      await Promise.all(ending);
    },
  };
}

/** Whether an agent of one spec can resume as another: all but the revision, the log and a former hold is equal. */
export function isSame(one: AgentSpec, other: AgentSpec): boolean {
  const essence = ({ revisionId: _revision, log: _log, holdUntil: _hold, ...rest }: AgentSpec) => rest;
  return isDeepStrictEqual(essence(one), essence(other));
}
