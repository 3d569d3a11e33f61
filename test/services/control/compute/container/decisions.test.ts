import { describe, expect, test } from 'vitest';
import { resourceFields, resourceSpec as specSchema } from '../../../../../src/contract/control/resource-spec.ts';
import { describeEnd, passEnvironment } from '../../../../../src/services/control/compute/container/containers.ts';
import {
  addressAt,
  gatewayIn,
  loopbackAccess,
} from '../../../../../src/services/control/compute/container/loopback-access.ts';
import { factsIn } from '../../../../../src/services/control/compute/container/engine.ts';
import { planPod, type PodPlan } from '../../../../../src/services/control/compute/container/plan.ts';
import { quantity } from '../../../../../src/services/control/kubernetes/quantities.ts';
import { deploymentId } from './stand-in.ts';

const program = { image: 'agent', flags: ['--publish=127.0.0.1::8000'], command: [], env: { PORT: '8000' } };
const plan = (
  requested: object | undefined,
  secretReferences: { name: string; secret_name: string; secret_key: string }[] = [],
) =>
  planPod(
    {
      deploymentId,
      resourceSpec: requested && specSchema.parse(requested),
      deploymentType: undefined,
      secretReferences,
    },
    program,
    'run1',
  );
const planned = (requested: object | undefined): PodPlan => {
  const made = plan(requested);
  if (!made.ok) throw new Error(made.problems.join(' '));
  return made.plan;
};
const cut = (text: string): string => text.replace(`landfall-${deploymentId}-`, 'LANDFALL-');
/** The flags that its fields add to a container. */
const own = (flags: readonly string[]): string[] =>
  flags.filter((flag) => !/^--(security-opt|cap-drop|pids-limit|publish)=/.test(flag)).map(cut);
const usual = ['--memory=2048000000b', '--memory-swap=2048000000b'];
const mountIt = { volumes: [{ name: 'v' }], volume_mounts: [{ name: 'v', mountPath: '/v' }] };

/** How each field of a ResourceSpec is applied: flags of the main container, or a note. */
const rows: readonly (readonly [field: string, spec: object, flags: string[], note?: string | undefined])[] = [
  ['min_scale', { min_scale: 2 }, usual, 'min_scale: this machine runs one replica.'],
  ['max_scale', { max_scale: 3 }, usual, 'max_scale: this machine runs one replica.'],
  ['cpu', { cpu: 0.5 }, ['--cpu-shares=512', '--cpus=1', ...usual]],
  ['cpu_limit', { cpu_limit: 1.5 }, ['--cpus=1.5', ...usual]],
  [
    'memory_mb',
    { memory_mb: 300 },
    ['--memory-reservation=300000000b', '--memory=600000000b', '--memory-swap=600000000b'],
  ],
  ['memory_limit_mb', { memory_limit_mb: 700 }, ['--memory=700000000b', '--memory-swap=700000000b']],
  ...(
    [
      'queue_min_scale',
      'queue_max_scale',
      'queue_cpu',
      'queue_cpu_limit',
      'queue_memory_mb',
      'queue_memory_limit_mb',
    ] as const
  ).map(
    (field) =>
      [
        field,
        { [field]: 1 },
        usual,
        `${field}: the queue's work is done by the agent itself on this machine.`,
      ] as const,
  ),
  ...(['cache_cpu', 'cache_cpu_limit', 'cache_memory_mb', 'cache_memory_limit_mb'] as const).map(
    (field) => [field, { [field]: 1 }, usual, `${field}: there is no cache on this machine.`] as const,
  ),
  ...(
    [
      'orchestrator_cpu',
      'orchestrator_cpu_limit',
      'orchestrator_memory_mb',
      'orchestrator_memory_limit_mb',
      'orchestrator_min_scale',
      'orchestrator_max_scale',
      'executor_cpu',
      'executor_cpu_limit',
      'executor_memory_mb',
      'executor_memory_limit_mb',
    ] as const
  ).map((field) => [field, { [field]: 1 }, usual, `${field}: the document marks these as not to be used.`] as const),
  ['labels', { labels: { team: 'a.b' } }, [...usual, '--label=team=a.b']],
  ...(['db_cpu', 'db_cpu_limit', 'db_memory_mb', 'db_memory_limit_mb', 'db_storage_gi'] as const).map(
    (field) =>
      [field, { [field]: 1 }, usual, `${field}: all deployments share the one Postgres of this machine.`] as const,
  ),
  ['db_max_connections', { db_max_connections: 5 }, usual],
  ...(
    [
      ['annotations', { annotations: { a: 'b' } }],
      ['service_account_name', { service_account_name: 'runner' }],
      ['image_pull_secrets', { image_pull_secrets: [{ name: 'pull' }] }],
    ] as const
  ).map(
    ([field, spec]) =>
      [field, spec, usual, `${field}: they are of a cluster. Log the engine in where images are private.`] as const,
  ),
  ['volumes', { volumes: [{ name: 'v' }] }, usual],
  ['volume_mounts', mountIt, [...usual, '--mount=type=volume,source=LANDFALL-run1-v,destination=/v']],
  ['init_containers', { init_containers: [{ name: 'a', image: 'tool' }] }, usual],
  ['sidecars', { sidecars: [{ name: 'a', image: 'tool' }] }, usual],
];

describe('how fields of a resource_spec are applied', () => {
  test.each(rows.map(([field, ...rest]) => [field, ...rest] as const))('%s', (_, spec, flags, note) => {
    const made = planned(spec);
    expect(own(made.main.flags)).toEqual(flags);
    expect(made.notes).toEqual(note === undefined ? [] : [note]);
  });

  test('every field has a row', () => {
    expect(Object.keys(resourceFields.shape).filter((field) => !rows.some(([of]) => of === field))).toEqual([]);
  });

  test('sets labels on every container and volume', () => {
    const { init, main, sidecars, labels } = planned({
      labels: { team: 'agents' },
      init_containers: [{ name: 'a', image: 'tool' }],
      sidecars: [{ name: 'b', image: 'tool' }],
    });
    for (const { flags } of [...init, main, ...sidecars]) expect(flags).toContain('--label=team=agents');
    expect(labels).toEqual(['--label=team=agents']);
  });

  test('limits memory by deployment type without a resource_spec', () => {
    expect(own(planned(undefined).main.flags)).toEqual(usual);
  });
});

const beside = (fields: object) => ({ ...mountIt, sidecars: [{ name: 'proxy', image: 'tool', ...fields }] });

describe('how fields of a container are applied', () => {
  test.each([
    ['command and arguments', { command: ['/run', '-x'], args: ['y'] }, ['--entrypoint=/run'], ['-x', 'y'], {}],
    ['arguments alone', { args: ['y'] }, [], ['y'], {}],
    ['working directory', { workingDir: '/srv' }, ['--workdir=/srv'], [], {}],
    ['image pull policy', { imagePullPolicy: 'IfNotPresent' }, ['--pull=missing'], [], {}],
    ['restart policy', { restartPolicy: 'OnFailure' }, ['--restart=on-failure'], [], {}],
    ['environment variables', { env: [{ name: 'A', value: 'b' }, { name: 'EMPTY' }] }, [], [], { A: 'b', EMPTY: '' }],
    [
      'resources',
      { resources: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '1', memory: '1M' } } },
      [
        '--cpu-shares=1024',
        '--cpus=0.5',
        '--memory-reservation=1000000b',
        '--memory=67108864b',
        '--memory-swap=67108864b',
      ],
      [],
      {},
    ],
    [
      'volume mounts',
      { volumeMounts: [{ name: 'v', mountPath: '/data', readOnly: true }] },
      ['--mount=type=volume,source=LANDFALL-run1-v,destination=/data,readonly'],
      [],
      {},
    ],
    [
      'user',
      { securityContext: { runAsUser: 7, runAsGroup: 8, readOnlyRootFilesystem: true, runAsNonRoot: true } },
      ['--user=7:8', '--read-only'],
      [],
      {},
    ],
  ] as const)('%s', (_, fields, flags, command, env) => {
    const made = planned(beside(structuredClone(fields))).sidecars[0];
    expect([own(made?.flags ?? []), made?.command, made?.env]).toEqual([flags, command, env]);
  });

  test.each([
    ['emptyDir exists for one run', { emptyDir: {} }, { runVolumes: ['LANDFALL-run1-v'], volumes: [] }],
    [
      'a claim stays with the deployment',
      { persistentVolumeClaim: { claimName: 'data' } },
      { runVolumes: [], volumes: ['LANDFALL-data'] },
    ],
    ['emptyDir in memory needs no volume', { emptyDir: { medium: 'Memory' } }, { runVolumes: [], volumes: [] }],
  ])('a volume: %s', (_, fields, expected) => {
    const { runVolumes, volumes } = planned({ volumes: [{ name: 'v', ...fields }] });
    expect({ runVolumes: runVolumes.map(cut), volumes: volumes.map(cut) }).toEqual(expected);
  });
});

describe('rejects what this machine can’t provide for an agent', () => {
  test.each([
    [
      'a volume of a cluster',
      { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
      'resource_spec.volumes[0]: configMap is something of a cluster',
    ],
    [
      'a claim with an invalid name',
      { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'a,type=bind' } }] },
      'is no name of a claim',
    ],
    [
      'a part of a volume',
      { volumes: [{ name: 'v' }], volume_mounts: [{ name: 'v', mountPath: '/v', subPath: 'a' }] },
      'mounted by a part of it',
    ],
    [
      'a path that contains further options',
      { volumes: [{ name: 'v' }], volume_mounts: [{ name: 'v', mountPath: '/v,readonly' }] },
      'holds a comma',
    ],
    [
      'a value from a cluster',
      beside({ env: [{ name: 'A', valueFrom: { fieldRef: {} } }] }),
      'sidecars[0].env[0].valueFrom',
    ],
    ['variables from a cluster', beside({ envFrom: [{ configMapRef: {} }] }), 'sidecars[0].envFrom'],
    [
      'more privileges',
      beside({ securityContext: { privileged: true, capabilities: { add: ['SYS_ADMIN'] } } }),
      'does not grant privileged, capabilities',
    ],
    [
      'an invalid amount',
      beside({ resources: { limits: { cpu: 'much' } } }),
      'sidecars[0].resources.limits.cpu: much is no amount',
    ],
    [
      'an image that would be a flag',
      beside({ image: '--privileged' }),
      'sidecars[0].image: "--privileged" is no image',
    ],
  ])('%s', (_, spec, recorded) => {
    const made = plan(spec);
    expect(made.ok ? [] : made.problems).toEqual([expect.stringContaining(recorded)]);
  });

  test('secrets of a cluster', () => {
    const made = plan(undefined, [{ name: 'A', secret_name: 'b', secret_key: 'c' }]);
    expect(made.ok ? [] : made.problems).toEqual([expect.stringContaining('set secrets instead')]);
  });

  test('the deployment’s own image, if it would be a flag', () => {
    const made = planPod(
      { deploymentId, resourceSpec: undefined, deploymentType: undefined, secretReferences: [] },
      { ...program, image: '-v=/:/host' },
      'r',
    );
    expect(made.ok ? [] : made.problems).toEqual([expect.stringContaining('source_revision_config.image_uri')]);
  });
});

test.each([
  ['1', 1],
  ['1.5', 1.5],
  ['500m', 0.5],
  ['64Mi', 67_108_864],
  ['1G', 1e9],
  ['', undefined],
  ['1 MB', undefined],
  ['Mi', undefined],
  ['-1', undefined],
])('the amount %j is %s', (text, amount) => {
  expect(quantity(text)).toBe(amount);
});

const variables: readonly (readonly [string, Record<string, string>, string, Record<string, string>])[] = [
  ['passes a plain one in the file', { A: 'b c=d #e' }, 'A=b c=d #e\n', {}],
  ['passes an empty one in the file', { A: '' }, 'A=\n', {}],
  ['passes a multi-line one in the environment', { A: 'b\nc' }, '', { A: 'b\nc' }],
  ['passes a very long one in the environment', { A: 'b'.repeat(70_000) }, '', { A: 'b'.repeat(70_000) }],
  ['passes one that an engine reads in the file', { DOCKER_HOST: 'tcp://other' }, 'DOCKER_HOST=tcp://other\n', {}],
];

describe('how a variable gets into a container', () => {
  test.each(variables)('%s', (_, env, file, inherited) => {
    expect(passEnvironment(env)).toEqual({ file, inherited, impossible: [] });
  });

  test('rejects a multi-line variable that an engine reads, by name', () => {
    expect(passEnvironment({ DOCKER_HOST: 'a\nb', A: 'b' })).toMatchObject({ impossible: ['DOCKER_HOST'] });
  });
});

describe('how an engine is detected', () => {
  test.each([
    ['Docker', { ServerVersion: '28.0' }, { kind: 'docker', rootless: false, desktop: false }],
    [
      'rootless Docker',
      { ServerVersion: '28.0', SecurityOptions: ['name=seccomp', 'name=rootless'] },
      { kind: 'docker', rootless: true, desktop: false },
    ],
    [
      'Docker Desktop',
      { ServerVersion: '28.0', OperatingSystem: 'Docker Desktop' },
      { kind: 'docker', rootless: false, desktop: true },
    ],
    ['a Docker client without a server', { ServerVersion: '', ClientInfo: {} }, undefined],
    ['Podman', { host: { security: { rootless: false } } }, { kind: 'podman', rootless: false, desktop: false }],
    ['rootless Podman', { host: { security: { rootless: true } } }, { kind: 'podman', rootless: true, desktop: false }],
    [
      'Podman machine',
      { host: { security: { rootless: true }, serviceIsRemote: true } },
      { kind: 'podman', rootless: true, desktop: true },
    ],
    ['an unknown program', [], undefined],
  ])('%s', (_, recorded, facts) => {
    expect(factsIn(JSON.stringify(recorded))).toEqual(facts);
  });

  test('output that is not JSON', () => {
    expect(factsIn('usage: ...')).toBeUndefined();
  });
});

const rootful = { kind: 'docker', rootless: false, desktop: false } as const;
describe('how a container reaches this machine', () => {
  test.each([
    ['a remote address is used unchanged', 'postgres://u:p@db.example.com/a', rootful, { kind: 'direct' }],
    ['a local address needs a relay', 'postgres://u:p@127.0.0.1:5/a', rootful, { kind: 'proxy' }],
    ['so does this service', 'http://127.0.0.1:5/v1/projects/p/runs', rootful, { kind: 'proxy' }],
    ['localhost is this machine', 'postgres://u:p@localhost/a', { ...rootful, kind: 'podman' }, { kind: 'proxy' }],
    [
      'Docker Desktop has a host name for it',
      'postgres://u:p@127.0.0.1/a',
      { ...rootful, desktop: true },
      { kind: 'engine', host: 'host.docker.internal', network: undefined },
    ],
    [
      'rootless Podman has an address for it',
      'postgres://u:p@127.0.0.1/a',
      { kind: 'podman', rootless: true, desktop: false },
      { kind: 'engine', host: '10.0.2.2', network: 'slirp4netns:allow_host_loopback=true' },
    ],
  ] as const)('%s', (_, url, facts, way) => {
    expect(loopbackAccess(url, facts)).toEqual(way);
  });

  test('replaces only the host and the port', () => {
    expect(addressAt('postgres://u:p%40@127.0.0.1:5/a?sslmode=disable', '10.1.0.1', 77)).toBe(
      'postgres://u:p%40@10.1.0.1:77/a?sslmode=disable',
    );
    expect(addressAt('http://127.0.0.1:5/v1/projects/p/runs', '10.1.0.1', 77)).toBe(
      'http://10.1.0.1:77/v1/projects/p/runs',
    );
    expect(addressAt('postgres://u:p@127.0.0.1:5/a', '10.0.2.2')).toBe('postgres://u:p@10.0.2.2:5/a');
  });

  test.each([
    ['Docker', [{ IPAM: { Config: [{ Gateway: '172.18.0.1' }] } }], '172.18.0.1'],
    ['Podman', [{ subnets: [{ gateway: '10.89.0.1' }] }], '10.89.0.1'],
    ['neither', [{}], undefined],
  ])('finds the host address of a network of %s', (_, recorded, gateway) => {
    expect(gatewayIn(JSON.stringify(recorded))).toBe(gateway);
  });
});

test.each([
  ['its container was removed', undefined],
  ['exit code 3', { Status: 'exited', ExitCode: 3 }],
  ['exit code 3 (no such file)', { Status: 'exited', ExitCode: 3, Error: 'no such file' }],
  [
    'it took more memory than its limit of 512 MB and was stopped',
    { Status: 'exited', ExitCode: 137, OOMKilled: true },
  ],
  ['it could not be started', { Status: 'created', ExitCode: 0 }],
])('exit reason: %s', (words, state) => {
  expect(describeEnd(state, 512)).toBe(words);
});
