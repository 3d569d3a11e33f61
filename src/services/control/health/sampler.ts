import * as z from 'zod';
import { pause, steadyNow, withTimeout, type Clock } from '../../../kit/clock.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { requestJson, type Upstream } from '../gateway/request-agent.ts';
import type { HealthRecorder } from './recorder.ts';

interface SamplerDependencies {
  gateway: Pick<Gateway, 'allLive'>;
  recorder: Pick<HealthRecorder, 'sample'>;
  clock: Clock;
  /** How often the agents are sampled (ms). */
  everyMs?: number;
}

const timeoutMs = 5_000;
const maxBytes = 262_144;
const maxConcurrentSamples = 8;
/** Limits the CPU time that an agent reports, because agents are not trusted. */
const maxProcessors = 1_024;

/** The fields of an agent server's `GET /metrics?format=json` that are used. */
const metrics = z.object({
  queue: z.object({ num_pending: z.int().min(0).max(2_147_483_647) }),
  process: z.object({ memory_bytes: z.int().min(0), cpu_seconds: z.number().min(0) }),
});

/**
 * Samples the processes of live agents periodically. Skips agents that do not respond, are not agent servers, or can't be
 * reached from this machine. Does not start agents that are scaled to zero.
 *
 * @returns a function that stops it.
 */
export function startSampler({ gateway, recorder, clock, everyMs = 30_000 }: SamplerDependencies): () => Promise<void> {
  const stopping = new AbortController();
  const previous = new WeakMap<Upstream, { at: number; cpuMs: number }>();

  async function sample(deploymentId: string, upstream: Upstream): Promise<void> {
    const ask = (signal: AbortSignal) => requestJson(upstream, '/metrics?format=json', signal, maxBytes);
    const read = metrics.parse(await withTimeout(clock, timeoutMs, ask, stopping.signal));
    const [at, cpuMs] = [steadyNow(clock), read.process.cpu_seconds * 1_000];
    const before = previous.get(upstream);
    previous.set(upstream, { at, cpuMs });
    recorder.sample(deploymentId, {
      memory_bytes: read.process.memory_bytes,
      queue_length: read.queue.num_pending,
      cpu: before && cpuBetween(before, { at, cpuMs }),
    });
  }

  async function sampleAll(): Promise<void> {
    const agents = gateway.allLive().values();
    const work = async (): Promise<void> => {
      for (const [id, upstream] of agents) {
        if (stopping.signal.aborted) return;
        await sample(id, upstream).catch(() => undefined);
      }
    };
    await Promise.all(Array.from({ length: maxConcurrentSamples }, work));
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await pause(clock, everyMs, stopping.signal);
      await sampleAll();
    }
  }

  const running = run();
  return async () => {
    stopping.abort();
    await running;
  };
}

function cpuBetween(before: { at: number; cpuMs: number }, { at, cpuMs }: { at: number; cpuMs: number }) {
  const sampled_ms = at - before.at;
  const usedMs = cpuMs - before.cpuMs;
  // A lower value comes from another process behind the same address.
  if (sampled_ms <= 0 || usedMs < 0) return undefined;
  return { cpu_ms: Math.round(Math.min(usedMs, sampled_ms * maxProcessors)), sampled_ms: Math.round(sampled_ms) };
}
