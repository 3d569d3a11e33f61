import { silentLogger } from '../../../../../src/kit/logger.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../../../../src/kit/clock.ts';
import { agentServerPath } from '../../../../../src/services/control/compute/agent-environment.ts';
import { containerCompute } from '../../../../../src/services/control/compute/container-compute.ts';
import { Gateway } from '../../../../../src/services/control/gateway/gateway.ts';
import { givenUpMessage, restartedMessage } from '../../../../../src/services/control/rollouts/agent-exits.ts';
import { LiveAgents } from '../../../../../src/services/control/rollouts/live-agents.ts';
import { databaseDouble, deploymentId, imageSpec, standIn, type StandIn } from './stand-in.ts';

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

/** Shortens minutes to milliseconds. */
const hurried: Clock = {
  now: () => systemClock.now(),
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 10), signal),
};

interface Fixture {
  live: LiveAgents;
  engine: StandIn;
  spec: ReturnType<typeof imageSpec>;
  /** The health messages that its revision shows. */
  recorded: string[];
  /** Requests a path of the deployment's agent; undefined while none is live. */
  ask: (path: string) => Promise<Response> | undefined;
}

async function fixture(image: string, secrets: { name: string; value: string }[] = []): Promise<Fixture> {
  const engine = standIn();
  atTheEnd.push(() => engine.remove());
  const database = await databaseDouble();
  atTheEnd.push(() => database.close());
  const compute = containerCompute({
    clock: systemClock,
    log: silentLogger,
    serviceId: 'this-service',
    usedDir: join(engine.env['CONTAINER_STAND_IN'] ?? '', 'used'),
    command: engine.command,
    env: engine.env,
    program: { node: process.execPath, agentServer: agentServerPath() },
    drainMs: 1_000,
  });
  atTheEnd.push(() => compute.close());
  const gateway = new Gateway({ authorize: async () => 'allowed', clock: systemClock, log: silentLogger });
  const recorded: string[] = [];
  const live = new LiveAgents({
    compute,
    gateway,
    clock: hurried,
    drainMs: 0,
    exitHandlers: {
      untilStartable: async () => undefined,
      onBreakdown: (_spec, times, breakdown) => recorded.push(restartedMessage(times, breakdown)),
      onStable: () => undefined,
      onGiveUp: (_spec, times, breakdown) => recorded.push(givenUpMessage(times, breakdown)),
    },
  });
  atTheEnd.push(() => live.stop(2_000));
  const spec = imageSpec(image, database.url, { secrets });
  const ask = (path: string): Promise<Response> | undefined => {
    const agent = gateway.live(deploymentId);
    return agent && fetch(`${agent.origin}${path}`, { headers: { 'x-landfall-agent-token': agent.token } });
  };
  return { live, engine, spec, recorded, ask };
}

/** Waits until the agent responds. */
async function serves({ ask }: Fixture): Promise<void> {
  await expect.poll(async () => (await ask('/ok'))?.status).toBe(200);
}

test('restarts a crashed container as a new one and says so in its revision', async () => {
  const on = await fixture('agent');
  on.live.superviseLive(on.spec);
  await serves(on);
  const [first] = on.engine.there('containers');
  await on.ask('/crash')?.catch(() => undefined);
  await expect.poll(() => on.recorded).toEqual(['Restarted 1 time, last: exit code 7.']);
  await serves(on);
  await expect.poll(() => on.engine.there('containers')).toHaveLength(1);
  expect(on.engine.there('containers')).not.toContain(first);
});

test('gives up on a crash loop, with the last lines of the log, and cleans up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-live-'));
  atTheEnd.push(() => rmSync(folder, { recursive: true }));
  const gone = join(folder, 'gone');
  const on = await fixture('fading', [{ name: 'FAKE_DIES_IF', value: gone }]);
  on.live.superviseLive(on.spec);
  await serves(on);
  writeFileSync(gone, '');
  await on.ask('/crash')?.catch(() => undefined);
  await expect.poll(() => on.recorded.length).toBe(10);
  expect(on.recorded.at(-1)).toBe(
    [
      "The agent broke down 10 times in a row and is not started again, last: The agent's container ended before it was healthy: exit code 3. Its last line: The model is gone. Deploy a revision that stays up, or redeploy one.",
      'Its log ended:',
      'looking for the model',
      'The model is gone.',
    ].join('\n'),
  );
  expect([on.live.isSupervised(deploymentId), on.ask('/ok'), on.engine.there('containers')]).toEqual([
    false,
    undefined,
    [],
  ]);
});
