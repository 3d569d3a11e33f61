import { silentLogger } from '../../../../../src/kit/logger.ts';
import { loggerTo } from '../../../../logger.ts';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../../../src/kit/clock.ts';
import { agentServerPath } from '../../../../../src/services/control/compute/agent-environment.ts';
import type { AgentSpec, RunningAgent } from '../../../../../src/services/control/compute/compute.ts';
import {
  containerCompute,
  type ContainerCompute,
} from '../../../../../src/services/control/compute/container-compute.ts';
import { ask, specOf } from '../agents.ts';
import { collector, databaseDouble, deploymentId, imageSpec, standIn, type StandIn } from './stand-in.ts';

const atTheEnd: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

interface Tried {
  engine: StandIn;
  compute: ContainerCompute;
  databaseUrl: string;
  logged: string[];
}

async function open(settings: { startWithinMs?: number; engine?: StandIn } = {}): Promise<Tried> {
  const engine = settings.engine ?? standIn();
  if (!settings.engine) atTheEnd.push(() => engine.remove());
  const database = await databaseDouble();
  atTheEnd.push(() => database.close());
  const logged: string[] = [];
  const compute = containerCompute({
    clock: systemClock,
    log: loggerTo((message) => logged.push(message)),
    serviceId: 'this-service',
    usedDir: join(engine.env['CONTAINER_STAND_IN'] ?? '', 'used'),
    command: engine.command,
    env: { ...engine.env, HOME: '/home/user', DATABASE_URL: 'postgres://the-service-itself' },
    program: { node: process.execPath, agentServer: agentServerPath() },
    drainMs: 3_000,
    startWithinMs: settings.startWithinMs ?? 20_000,
  });
  atTheEnd.push(() => compute.close());
  return { engine, compute, databaseUrl: database.url, logged };
}

async function runs({ compute }: Tried, spec: AgentSpec): Promise<RunningAgent> {
  const start = await compute.start(spec, new AbortController().signal);
  if (start.kind === 'failed') throw new Error(start.reason);
  atTheEnd.push(() => start.agent.stop(1_000));
  return start.agent;
}

async function reasonOf({ compute }: Tried, spec: AgentSpec, signal = new AbortController().signal): Promise<string> {
  const start = await compute.start(spec, signal);
  if (start.kind === 'running') throw new Error('it runs');
  return start.reason;
}

const verbs = (engine: StandIn): string[] =>
  engine.calls().map(({ args }) => args.slice(0, args[0] === 'network' || args[0] === 'volume' ? 2 : 1).join(' '));

describe.each([
  ['Docker', false],
  ['Podman', true],
])('an image on a stand-in for %s', (_, isPodman) => {
  const opened = async (): Promise<Tried> => {
    const tried = await open();
    if (isPodman) tried.engine.is('kind');
    return tried;
  };

  test('answers with its token on loopback, gets its secrets, and reaches the database', async () => {
    const tried = await opened();
    const secrets = [
      { name: 'MODEL_KEY', value: 'canary-41ee' },
      { name: 'PEM', value: 'canary-line-one\ncanary-line-two' },
      { name: 'PORT', value: '1' },
    ];
    const agent = await runs(tried, imageSpec('agent', tried.databaseUrl, { secrets }));
    expect(agent.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await ask(agent, '/ok', 'a-guess')).status).toBe(401);
    const env = z.record(z.string(), z.string()).parse(await (await ask(agent, '/env')).json());
    expect(env).toMatchObject({
      MODEL_KEY: 'canary-41ee',
      PEM: 'canary-line-one\ncanary-line-two',
      LANDFALL_REVISION_ID: 'r-1',
      LANDFALL_DEPLOYMENT_ID: deploymentId,
      LANDFALL_WEBHOOK_PRIVATE: 'refuse',
      HOST: '0.0.0.0',
    });
    expect(Object.keys(env).filter((name) => ['HOME', 'PATH', 'DATABASE_URL'].includes(name))).toEqual([]);
    expect(env['DATABASE_URI']).not.toBe(tried.databaseUrl);
    expect(await (await ask(agent, '/database')).json()).toEqual({ said: 'the database' });
  });

  test('reports its runs to this service, whose loopback it can’t reach itself', async () => {
    const tried = await opened();
    const recorded = await collector();
    atTheEnd.push(() => recorded.close());
    const tracing = { url: `${recorded.origin}/v1/projects/p/runs`, token: 'canary-tracing' };
    const agent = await runs(tried, imageSpec('agent', tried.databaseUrl, { tracing }));
    const env = z.record(z.string(), z.string()).parse(await (await ask(agent, '/env')).json());
    expect(env['LANDFALL_TRACING_URL']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/projects\/p\/runs$/);
    expect(env['LANDFALL_TRACING_URL']).not.toBe(tracing.url);
    expect(await (await ask(agent, '/report')).json()).toEqual({ recorded: 202 });
    expect(recorded.heard).toEqual(['POST /v1/projects/p/runs Bearer canary-tracing {"runs":[]}']);
    expect(tried.engine.calls().filter(({ args }) => args.join(' ').includes('canary'))).toEqual([]);
  });

  test('passes secrets only in the environment of the call that needs them', async () => {
    const tried = await opened();
    const secrets = [
      { name: 'MODEL_KEY', value: 'canary-41ee' },
      { name: 'PEM', value: 'canary-line-one\ncanary-line-two' },
    ];
    const agent = await runs(tried, imageSpec('agent', tried.databaseUrl, { secrets }));
    await agent.stop(1_000);
    const calls = tried.engine.calls();
    for (const hidden of ['canary', 'database-password', agent.token]) {
      expect(calls.filter(({ args }) => args.join(' ').includes(hidden))).toEqual([]);
    }
    expect(calls.filter(({ env }) => JSON.stringify(env).includes('canary-41ee'))).toEqual([]);
    expect(calls.filter(({ env }) => JSON.stringify(env).includes('canary-line')).map(({ args }) => args[0])).toEqual([
      'create',
    ]);
    expect(calls.filter(({ env }) => JSON.stringify(env).includes('the-service-itself'))).toEqual([]);
  });

  test('is created, started, published and stopped, and leaves nothing behind', async () => {
    const tried = await opened();
    const agent = await runs(tried, imageSpec('agent', tried.databaseUrl));
    await agent.stop(2_000);
    expect(await agent.exited).toBe('exit code 0');
    await tried.compute.close();
    const once = verbs(tried.engine).filter((verb, at, all) => verb !== all[at - 1]);
    expect(once.filter((verb) => verb !== 'inspect' && verb !== 'port')).toEqual([
      'info',
      'ps',
      'network inspect',
      'network create',
      'network inspect',
      'create',
      ...(isPodman ? ['init'] : []),
      'start',
      'stop',
      'rm',
      'network rm',
    ]);
    expect([tried.engine.there('containers'), tried.engine.there('networks')]).toEqual([[], []]);
  });
});

test('logs the output of an agent and masks its secrets', async () => {
  const tried = await open();
  const spec = imageSpec('agent', tried.databaseUrl, { secrets: [{ name: 'FAKE_SAY', value: 'canary-said' }] });
  const agent = await runs(tried, spec);
  await ask(agent, '/say');
  await agent.stop(1_000);
  expect(spec.lines).toEqual(['info: ***', 'error: said later', 'info: leaving']);
  expect(agent.lastLines?.()).toEqual(['***', 'said later', 'leaving']);
});

test('notices that an agent crashed and removes its container', async () => {
  const tried = await open();
  const agent = await runs(tried, imageSpec('agent', tried.databaseUrl));
  await ask(agent, '/crash').catch(() => undefined);
  expect(await agent.exited).toBe('exit code 7');
  await expect.poll(() => tried.engine.there('containers')).toEqual([]);
});

test('reports that an agent exceeded its memory limit', async () => {
  const tried = await open();
  const spec = imageSpec('agent', tried.databaseUrl, {
    secrets: [{ name: 'FAKE_OOM', value: 'yes' }],
    resourceSpec: { memory_limit_mb: 300 },
  });
  const agent = await runs(tried, spec);
  await ask(agent, '/crash').catch(() => undefined);
  expect(await agent.exited).toBe('it took more memory than its limit of 300 MB and was stopped');
});

describe('a failed start gives the reason and leaves nothing behind', () => {
  test.each([
    [
      'a missing image',
      imageSpec('no-such/image:1', '').program,
      {},
      'The container main of the image no-such/image:1 could not be created (DOCKER: Error: pull access denied',
    ],
    [
      'an agent that exits early',
      imageSpec('agent', '').program,
      { secrets: [{ name: 'FAKE_START', value: 'dies' }] },
      "The agent's container ended before it was healthy: exit code 3. Its last line: The model is gone.",
    ],
    [
      'an init container that fails',
      imageSpec('agent', '').program,
      {
        resourceSpec: {
          init_containers: [{ name: 'prepare', image: 'tool', args: ['-c', 'echo no disk >&2; exit 4'] }],
        },
      },
      'The init container prepare failed: exit code 4. Its last line: no disk',
    ],
    [
      'a sidecar with a missing image',
      imageSpec('agent', '').program,
      { resourceSpec: { sidecars: [{ name: 'proxy', image: 'no-proxy' }] } },
      'The container proxy of the image no-proxy could not be created',
    ],
    [
      'a setting that only a cluster supports',
      imageSpec('agent', '').program,
      { resourceSpec: { volumes: [{ name: 'v', nfs: {} }] } },
      "This machine can't run these containers. resource_spec.volumes[0]: nfs is something of a cluster",
    ],
    [
      'a multi-line secret that the engine would read',
      imageSpec('agent', '').program,
      { secrets: [{ name: 'DOCKER_HOST', value: 'a\nb' }] },
      'The values of DOCKER_HOST are too long or of several lines',
    ],
  ])('%s', async (_, program, changes, reason) => {
    const tried = await open();
    const recorded = await reasonOf(tried, imageSpec('agent', tried.databaseUrl, { program, ...changes }));
    expect(recorded.replace(tried.engine.command, 'DOCKER')).toContain(reason);
    await expect.poll(() => [tried.engine.there('containers'), tried.engine.there('volumes')]).toEqual([[], []]);
  });

  test('an agent that is not healthy in time', async () => {
    const tried = await open({ startWithinMs: 1_500 });
    const spec = imageSpec('tool', tried.databaseUrl);
    const recorded = await reasonOf(tried, { ...spec, program: { kind: 'image', imageUri: 'sleeper' } });
    expect(recorded).toContain('did not become healthy within 1.5 s');
    expect(tried.engine.there('containers')).toEqual([]);
  });

  test('an aborted start', async () => {
    const tried = await open();
    const breaking = new AbortController();
    const starting = reasonOf(tried, imageSpec('sleeper', tried.databaseUrl), breaking.signal);
    await expect.poll(() => tried.engine.there('containers').length).toBe(1);
    breaking.abort();
    expect(await starting).toBe('The start was aborted.');
    await expect.poll(() => tried.engine.there('containers')).toEqual([]);
  });

  test('an unavailable engine, and a later start when it is available', async () => {
    const tried = await open();
    tried.engine.is('silent');
    const spec = imageSpec('agent', tried.databaseUrl);
    expect(await tried.compute.problem()).toContain('does not answer (Error: Cannot connect to the daemon.');
    expect(await reasonOf(tried, spec)).toContain('Start it, or install Docker or Podman');
    tried.engine.is('kind');
    tried.engine.forget('silent');
    expect((await ask(await runs(tried, spec), '/ok')).status).toBe(200);
  });

  test('an engine that fails at first, and a later start when it works', async () => {
    const tried = await open();
    tried.engine.is('listless');
    const spec = imageSpec('agent', tried.databaseUrl);
    expect(await reasonOf(tried, spec)).toContain('Containers could not be listed');
    expect(await tried.compute.problem()).toContain('Error: the store is locked');
    await tried.compute.close();
    tried.engine.forget('listless');
    expect((await ask(await runs(tried, spec), '/ok')).status).toBe(200);
  });

  test('two agents that start at the same time share the database relay', async () => {
    const tried = await open();
    const both = await Promise.all([1, 2].map(() => runs(tried, imageSpec('agent', tried.databaseUrl))));
    for (const agent of both) expect(await (await ask(agent, '/database')).json()).toEqual({ said: 'the database' });
  });

  test('a machine without an engine', async () => {
    const without = containerCompute({
      clock: systemClock,
      log: silentLogger,
      serviceId: 'this-service',
      usedDir: '/nowhere',
      env: { PATH: '/nowhere' },
      program: { node: process.execPath, agentServer: agentServerPath() },
    });
    expect(await without.problem()).toContain(
      "This machine can't run containers: neither docker nor podman is installed.",
    );
  });
});

test('runs init containers in sequence, then sidecars beside the agent, on one volume', async () => {
  const tried = await open();
  const script = (text: string): { image: string; args: string[] } => ({ image: 'tool', args: ['-c', text] });
  const spec = imageSpec('agent', tried.databaseUrl, {
    resourceSpec: {
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'kept', persistentVolumeClaim: { claimName: 'data' } },
      ],
      volume_mounts: [{ name: 'shared', mountPath: '/shared' }],
      init_containers: [
        { name: 'first', ...script('sleep 0.3; echo one') },
        { name: 'second', ...script('echo two') },
      ],
      sidecars: [{ name: 'beside', ...script('echo here; sleep 60') }],
    },
    secrets: [{ name: 'FAKE_SAY', value: 'main' }],
  });
  const agent = await runs(tried, spec);
  await expect.poll(() => spec.lines).toContain('info: [beside] here');
  expect(spec.lines.slice(0, 2)).toEqual(['info: [first] one', 'info: [second] two']);
  const made = tried.engine.calls().filter(({ args }) => args[0] === 'create');
  const nameOf = (args: readonly string[]): string => args.find((arg) => arg.startsWith('--name='))?.slice(7) ?? '';
  expect(made.map(({ args }) => nameOf(args).replace(/-[0-9a-f]{10}/, '-RUN'))).toEqual([
    'landfall-tried-RUN-first',
    'landfall-tried-RUN-second',
    'landfall-tried-RUN',
    'landfall-tried-RUN-beside',
  ]);
  expect(made[3]?.args).toContain(`--network=container:${nameOf(made[2]?.args ?? [])}`);
  expect(tried.engine.there('volumes')).toHaveLength(2);
  await agent.stop(1_000);
  expect(tried.engine.there('containers')).toEqual([]);
  expect(tried.engine.there('volumes')).toEqual([`landfall-${deploymentId}-data`]);
  await tried.compute.remove({ id: deploymentId, name: 'tried', namespace: undefined });
  expect(tried.engine.there('volumes')).toEqual([]);
});

test('sets labels on containers and volumes without replacing the service’s own', async () => {
  const tried = await open();
  const spec = imageSpec('agent', tried.databaseUrl, {
    resourceSpec: {
      labels: { team: 'agents', 'landfall.deployment': 'another' },
      volumes: [{ name: 'kept', persistentVolumeClaim: { claimName: 'data' } }],
      sidecars: [{ name: 'beside', image: 'tool', args: ['-c', 'sleep 60'] }],
    },
  });
  await runs(tried, spec);
  const made = tried.engine.calls().filter(({ args }) => args[0] === 'create' || args[1] === 'create');
  const things = made.filter(({ args }) => args[0] !== 'network');
  expect(things).toHaveLength(3);
  for (const { args } of things) {
    expect(args).toContain('--label=team=agents');
    expect(args.findLast((arg) => arg.startsWith('--label=landfall.deployment='))).toContain(deploymentId);
  }
});

describe("removal of a deployment's resources", () => {
  const kept = { volumes: [{ name: 'kept', persistentVolumeClaim: { claimName: 'data' } }] };
  const gone = { id: deploymentId, name: 'tried', namespace: undefined };

  /** A deployment that ran, was stopped and has a volume, as the next service finds it. */
  async function ranBefore(): Promise<Tried> {
    const before = await open();
    const agent = await runs(before, imageSpec('agent', before.databaseUrl, { resourceSpec: kept }));
    await agent.stop(1_000);
    return open({ engine: before.engine });
  }

  test.each([
    ['does not answer', 'silent', /still there\. .*Cannot connect to the daemon\. Is it running\?.* Start it/],
    ['can’t list containers', 'listless', /still there\. Containers could not be listed .*the store is locked/],
  ] as const)('fails with the reason while the engine %s, and succeeds later', async (_, state, why) => {
    const after = await ranBefore();
    after.engine.is(state);
    await expect(after.compute.remove(gone)).rejects.toThrow(why);
    after.engine.forget(state);
    expect(after.engine.there('volumes')).toHaveLength(1);
    await after.compute.remove(gone);
    expect(after.engine.there('volumes')).toEqual([]);
  });

  test('reports a volume that the engine fails to remove', async () => {
    const after = await ranBefore();
    after.engine.is('clinging');
    await expect(after.compute.remove(gone)).rejects.toThrow('Volumes could not be removed');
    after.engine.forget('clinging');
    await after.compute.remove(gone);
    expect(after.engine.there('volumes')).toEqual([]);
  });

  test('needs no engine for a deployment without containers', async () => {
    const tried = await open();
    tried.engine.is('silent');
    await tried.compute.remove(gone);
    expect(tried.engine.calls()).toEqual([]);
  });

  test('removes the deployment and logs a warning when the engine was uninstalled', async () => {
    const after = await ranBefore();
    rmSync(after.engine.command);
    await after.compute.remove(gone);
    expect(after.logged).toEqual([expect.stringMatching(/may still be there\. .*there is no program/)]);
  });
});

test('removes containers of a crashed service before it starts another', async () => {
  const before = await open();
  await runs(before, imageSpec('agent', before.databaseUrl));
  expect(before.engine.there('containers')).toHaveLength(1);
  const after = await open({ engine: before.engine });
  const [left] = before.engine.there('containers');
  await runs(after, imageSpec('agent', after.databaseUrl));
  expect(after.logged).toEqual(['Removed 1 container that an earlier service left behind.']);
  expect(after.engine.there('containers')).not.toContain(left);
});

test('mounts a build and the program read-only, and only the home writable', async () => {
  const tried = await open();
  const spec = specOf({ MODEL_KEY: 'canary-41ee' });
  atTheEnd.push(spec.remove);
  await reasonOf(tried, { ...spec, user: undefined, databaseUrl: tried.databaseUrl });
  const create = tried.engine.calls().find(({ args }) => args[0] === 'create')?.args ?? [];
  const { folder, homeFolder } = spec.program;
  expect(create).toEqual(
    expect.arrayContaining([
      '--entrypoint=node',
      `--workdir=${folder}`,
      `--mount=type=bind,source=${folder},destination=${folder},readonly`,
      `--mount=type=bind,source=${homeFolder},destination=${homeFolder}`,
      `--user=${process.getuid?.()}:${process.getgid?.()}`,
    ]),
  );
  const mounted = create.filter((arg) => arg.startsWith('--mount=') && !arg.includes(folder));
  expect(mounted.filter((arg) => !arg.endsWith(',readonly'))).toEqual([]);
  expect(mounted.some((arg) => arg.includes('/node_modules/zod,'))).toBe(true);
  expect(create.slice(-3)).toEqual([
    'docker.io/library/node:24-bookworm-slim',
    '--max-old-space-size=1464',
    agentServerPath(),
  ]);
  expect(create.join(' ')).not.toContain('canary');
});
