import { silentLogger } from '../../../../../src/kit/logger.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../../../../src/kit/clock.ts';
import { agentServerPath } from '../../../../../src/services/control/compute/agent-environment.ts';
import { containerCompute } from '../../../../../src/services/control/compute/container-compute.ts';
import { ask } from '../agents.ts';
import { realEngine, type RealEngine } from './real-engine.ts';
import { databaseDouble, deploymentId, imageSpec } from './stand-in.ts';

/** The engine found decides which of the tests below exist; each title names it. */
const engine = await realEngine();
const runs = engine.kind === 'runs' ? [engine] : [];
const missing: Exclude<RealEngine, { kind: 'runs' }>[] = engine.kind === 'runs' ? [] : [engine];

afterAll(async () => {
  rmSync(usedDir, { recursive: true });
  for (const { remove } of runs) await remove();
});

const usedDir = mkdtempSync(join(tmpdir(), 'landfall-used-'));
const computeFor = (env: NodeJS.ProcessEnv) =>
  containerCompute({
    clock: systemClock,
    log: silentLogger,
    serviceId: `test-${process.pid}`,
    usedDir,
    env,
    program: { node: process.execPath, agentServer: agentServerPath() },
  });

test.each(runs.map((found) => [found.name, found.how, found] as const))(
  '%s (%s) runs a locally built image, reaches the database and applies limits',
  async (_name, _how, { env, image }) => {
    const database = await databaseDouble();
    const compute = computeFor(env);
    const spec = imageSpec(image, database.url, {
      secrets: [
        { name: 'PEM', value: 'one\ntwo' },
        { name: 'FAKE_SAY', value: 'canary-said' },
      ],
      resourceSpec: {
        memory_limit_mb: 300,
        cpu_limit: 0.5,
        volumes: [{ name: 'shared', emptyDir: {} }],
        volume_mounts: [{ name: 'shared', mountPath: '/shared' }],
        init_containers: [
          {
            name: 'prepare',
            image,
            command: ['/bin/node', '-e', 'fs.writeFileSync("/shared/made", ""); console.log("prepared")'],
            volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
          },
        ],
        sidecars: [
          {
            name: 'beside',
            image,
            command: [
              '/bin/node',
              '-e',
              'process.on("SIGTERM", () => process.exit()); setInterval(() => console.log("beside"), 200)',
            ],
          },
        ],
      },
    });
    const start = await compute.start(spec, new AbortController().signal);
    if (start.kind === 'failed') throw new Error(start.reason);
    const { agent } = start;
    expect((await ask(agent, '/ok')).status).toBe(200);
    expect((await ask(agent, '/ok', 'a-guess')).status).toBe(401);
    expect(await (await ask(agent, '/env')).json()).toMatchObject({ PEM: 'one\ntwo', LANDFALL_REVISION_ID: 'r-1' });
    expect(await (await ask(agent, '/database')).json()).toEqual({ said: 'the database' });
    expect(await (await ask(agent, '/memory')).json()).toEqual({ bound: Math.floor(300e6 / 4_096) * 4_096 });
    await expect.poll(() => spec.lines).toContain('info: [beside] beside');
    expect(spec.lines).toContain('info: [prepare] prepared');
    expect(spec.lines.join()).not.toContain('canary');
    await agent.stop(2_000);
    expect(await agent.exited).toBe('exit code 0');
    await compute.remove({ id: deploymentId, name: 'tried', namespace: undefined });
    await compute.close();
    await database.close();
  },
);

test.each(
  missing.map(
    (found) =>
      [
        found.kind === 'none' ? 'no engine for containers answers here' : `${found.name} can't run containers here`,
        found,
      ] as const,
  ),
)('%s: an image fails with a reason that says what to do', async (_what, found) => {
  const compute = computeFor(process.env);
  const start = await compute.start(
    imageSpec('localhost/nothing', 'postgres://u:p@db.example.com/a'),
    new AbortController().signal,
  );
  await compute.close();
  expect(start).toMatchObject({
    kind: 'failed',
    reason: expect.stringMatching(
      found.kind === 'none'
        ? /^This machine can't run containers: .*Start it, or install Docker or Podman/
        : /could not be (made|started)/,
    ),
  });
});
