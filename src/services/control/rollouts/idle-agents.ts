import * as z from 'zod';
import { pause, steadyNow, withTimeout, type Clock } from '../../../kit/clock.ts';
import { messageOf } from '../../../kit/errors.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { requestJson, type Upstream } from '../gateway/request-agent.ts';
import type { ControlStore } from '../store/store.ts';

/** The field of an agent server's `GET /metrics?format=json` that says what it still has to do. */
const metrics = z.object({
  work: z.object({ unfinished: z.int().min(0), next_at: z.iso.datetime({ offset: true }).nullable() }),
});

/** What an agent has to do without a request. */
export interface AgentWork {
  /** Runs and webhooks that are due. */
  unfinished: number;
  /** When the next one is due (ms since the epoch): of a cron, a delayed run or a webhook. */
  nextAt: number | undefined;
}

/** How long before its work is due an agent is started (ms). */
const startEarlyMs = 60_000;
/** An agent whose next work is due sooner (ms) is not stopped: it would soon start again. */
const minStoppedMs = 5 * 60_000;

/** Whether an idle agent may be stopped. One that does not say what it has to do stays. */
export function mayStop(work: AgentWork | undefined, now: number): boolean {
  if (!work || work.unfinished > 0) return false;
  return work.nextAt === undefined || work.nextAt - now >= minStoppedMs;
}

interface IdleAgentsDependencies {
  store: Pick<ControlStore, 'idleTimes'>;
  gateway: Pick<Gateway, 'idleSince' | 'live'>;
  rollouts: {
    scaleToZero(deploymentId: string): boolean;
    wakeAgent(deploymentId: string): Promise<void> | undefined;
  };
  clock: Clock;
  log: Logger;
  /** How often the agents are looked at (ms). */
  everyMs?: number;
}

/** How long an agent may take to say what it has to do (ms), and in how many bytes. */
const metricsTimeoutMs = 5_000;
const maxMetricsBytes = 262_144;

/**
 * Scales agents to zero that had no request for as long as their deployment says and have nothing to do by themselves,
 * and starts them again before a cron or another delayed work is due. A request starts one through the gateway.
 *
 * @returns a function that stops it.
 */
export function startScalingToZero(dependencies: IdleAgentsDependencies): () => Promise<void> {
  const { store, gateway, rollouts, clock, log, everyMs = 15_000 } = dependencies;
  const stopping = new AbortController();
  /** When the next work of the stopped agents is due. */
  const dueAt = new Map<string, number>();

  async function workOf(upstream: Upstream): Promise<AgentWork | undefined> {
    const ask = (signal: AbortSignal) => requestJson(upstream, '/metrics?format=json', signal, maxMetricsBytes);
    const read = metrics.safeParse(
      await withTimeout(clock, metricsTimeoutMs, ask, stopping.signal).catch(() => undefined),
    );
    if (!read.success) return undefined;
    const { unfinished, next_at } = read.data.work;
    return { unfinished, nextAt: next_at === null ? undefined : Date.parse(next_at) };
  }

  async function stopWhereIdle(deploymentId: string, idleAfterMs: number): Promise<void> {
    const since = gateway.idleSince(deploymentId);
    const upstream = gateway.live(deploymentId);
    if (since === undefined || !upstream || steadyNow(clock) - since < idleAfterMs) return;
    const work = await workOf(upstream);
    // A request may have come meanwhile, or another revision.
    const isUntouched = gateway.idleSince(deploymentId) === since && gateway.live(deploymentId) === upstream;
    if (!isUntouched || !mayStop(work, clock.now()) || !rollouts.scaleToZero(deploymentId)) return;
    dueAt.delete(deploymentId);
    if (work?.nextAt !== undefined) dueAt.set(deploymentId, work.nextAt);
  }

  async function look(): Promise<void> {
    for (const [deploymentId, at] of dueAt) {
      if (at - startEarlyMs > clock.now()) continue;
      dueAt.delete(deploymentId);
      void rollouts.wakeAgent(deploymentId);
    }
    const times = await store.idleTimes();
    await Promise.all(times.map(({ id, idle_after_seconds }) => stopWhereIdle(id, idle_after_seconds * 1_000)));
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, everyMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await look().catch((error: unknown) => log.warn(`Idle agents could not be looked at: ${messageOf(error)}`));
    }
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}
