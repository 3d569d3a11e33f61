import { loggerTo } from '../../logger.ts';
import { listen } from '../../../app/server/http-server.ts';
import { runRoute } from '../../../app/server/run-route.ts';
import { createReceiver } from '../../../app/verify/receive-run.ts';
import { createSmokeTestRunner } from '../../../app/verify/smoke-test-runner.ts';
import type { SmokeState, Testing } from '../../../app/reconcile/intent.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import type { AgentServer } from '../../../src/contract/agent/service.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { ControlModel } from '../../deploy/machine/control-model.ts';
import { noThreads } from './driving.ts';
import { anIntent } from '../an-intent.ts';

/** The result of smoke tests against a real agent, and what the App saw. */
export interface Outcome {
  verdict: Verdict;
  /** How long it took (ms). */
  ms: number;
  /** What was stored on the way, and what was logged. */
  stored: readonly SmokeState[];
  logged: readonly string[];
}

/** Tests a real agent as the App does, over HTTP both ways: this process receives its webhooks. */
export async function askAsTheApp(agent: AgentServer, tests: readonly SmokeTest[]): Promise<Outcome> {
  const clock = systemClock;
  const logged: string[] = [];
  const log = loggerTo((message: string) => logged.push(message));
  const stored: SmokeState[] = [];
  let wake = (): void => undefined;
  const intent = (): Testing => {
    const smoke = stored.at(-1);
    const plain = anIntent('testing', smoke ? { smoke } : {});
    return { ...plain, terms: { ...plain.terms, smokeTests: tests } };
  };
  const receive = createReceiver({
    store: { intent: async (id) => (id === intent().id ? intent() : undefined), wake: async () => wake() },
    clock,
    log,
  });
  const server = await listen({ routes: [runRoute(receive, clock)], host: '127.0.0.1', port: 0, clock, log });
  const control = new ControlModel(clock).has({
    name: 'echo',
    source: 'external_docker',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example.test/echo:1' },
    secrets: [],
  });
  const runner = createSmokeTestRunner({
    clock,
    random: Math.random,
    control,
    publicUrl: server.url,
    threadsAt: noThreads,
    log,
  });
  const began = clock.now();
  try {
    for (;;) {
      const notified = new Promise<void>((resolve) => (wake = resolve));
      const smoked = await runner.advance(intent(), agent, AbortSignal.timeout(60_000), async () => undefined);
      if (smoked.kind === 'done') return { verdict: smoked.verdict, ms: clock.now() - began, stored, logged };
      stored.push(smoked.state);
      const over = new AbortController();
      const ms = smoked.at - clock.now();
      if (ms > 0) await Promise.race([notified, clock.sleep(ms, over.signal).catch(() => undefined)]);
      over.abort();
    }
  } finally {
    await server.drain(1_000);
  }
}
