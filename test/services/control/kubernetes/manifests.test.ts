import { describe, expect, test } from 'vitest';
import {
  resourceFields,
  unusedResourceFields,
  type ResourceSpec,
} from '../../../../src/contract/control/resource-spec.ts';
import type { FormerVolume } from '../../../../src/services/control/kubernetes/input.ts';
import { container, volume, volumeMount, volumeKinds } from '../../../../src/contract/control/container.ts';
import { kubernetesManifests } from '../../../../src/services/control/kubernetes/manifests.ts';
import { baseName, labelKeys } from '../../../../src/services/control/kubernetes/manifest.ts';
import { readKubernetesSchemas } from '../../../../scripts/kubernetes-schemas.ts';
import { admissionProblems } from './admission.ts';
import { at, base, inputOf, madeOf, one } from './inputs.ts';
import { kubernetesSchemas, schemaProblems } from './schemas.ts';

const pod = 'spec.template.spec';
const main = `${pod}.containers.0`;
const sidecar = { name: 'proxy', image: 'proxy:1' };

/** Where a field of a ResourceSpec ends up: the spec, the object, the path in it, and the expected value. */
type Row = [field: string, spec: ResourceSpec, kind: string, name: string, path: string, value: unknown];

const used: Row[] = [
  ['min_scale', { min_scale: 3 }, 'Deployment', base, 'spec.replicas', 3],
  ['max_scale', { max_scale: 4 }, 'HorizontalPodAutoscaler', base, 'spec.maxReplicas', 4],
  ['cpu', { cpu: 0.5 }, 'Deployment', base, `${main}.resources.requests.cpu`, '500m'],
  ['cpu_limit', { cpu_limit: 2 }, 'Deployment', base, `${main}.resources.limits.cpu`, '2'],
  ['memory_mb', { memory_mb: 512 }, 'Deployment', base, `${main}.resources.requests.memory`, '512M'],
  ['memory_limit_mb', { memory_limit_mb: 900 }, 'Deployment', base, `${main}.resources.limits.memory`, '900M'],
  ['queue_min_scale', { queue_min_scale: 2 }, 'Deployment', `${base}-queue`, 'spec.replicas', 2],
  ['queue_max_scale', { queue_max_scale: 7 }, 'HorizontalPodAutoscaler', `${base}-queue`, 'spec.maxReplicas', 7],
  ['queue_cpu', { queue_cpu: 1.5 }, 'Deployment', `${base}-queue`, `${main}.resources.requests.cpu`, '1500m'],
  ['queue_cpu_limit', { queue_cpu_limit: 4 }, 'Deployment', `${base}-queue`, `${main}.resources.limits.cpu`, '4'],
  [
    'queue_memory_mb',
    { queue_memory_mb: 64 },
    'Deployment',
    `${base}-queue`,
    `${main}.resources.requests.memory`,
    '64M',
  ],
  [
    'queue_memory_limit_mb',
    { queue_memory_limit_mb: 65 },
    'Deployment',
    `${base}-queue`,
    `${main}.resources.limits.memory`,
    '65M',
  ],
  ['cache_cpu', { cache_cpu: 0.1 }, 'Deployment', `${base}-cache`, `${main}.resources.requests.cpu`, '100m'],
  ['cache_cpu_limit', { cache_cpu_limit: 1 }, 'Deployment', `${base}-cache`, `${main}.resources.limits.cpu`, '1'],
  [
    'cache_memory_mb',
    { cache_memory_mb: 100 },
    'Deployment',
    `${base}-cache`,
    `${main}.resources.requests.memory`,
    '100M',
  ],
  [
    'cache_memory_limit_mb',
    { cache_memory_limit_mb: 101 },
    'Deployment',
    `${base}-cache`,
    `${main}.resources.limits.memory`,
    '101M',
  ],
  ['labels', { labels: { team: 'support' } }, 'Service', base, 'metadata.labels.team', 'support'],
  [
    'annotations',
    { annotations: { owner: 'Ada' } },
    'Deployment',
    base,
    'spec.template.metadata.annotations.owner',
    'Ada',
  ],
  [
    'service_account_name',
    { service_account_name: 'agents' },
    'Deployment',
    base,
    `${pod}.serviceAccountName`,
    'agents',
  ],
  [
    'image_pull_secrets',
    { image_pull_secrets: [{ name: 'registry' }] },
    'Deployment',
    base,
    `${pod}.imagePullSecrets.0.name`,
    'registry',
  ],
  [
    'volumes',
    { volumes: [{ name: 'scratch', emptyDir: { medium: 'Memory' } }] },
    'Deployment',
    base,
    `${pod}.volumes.0`,
    { name: 'scratch', emptyDir: { medium: 'Memory' } },
  ],
  [
    'volume_mounts',
    { volumes: [{ name: 'scratch' }], volume_mounts: [{ name: 'scratch', mountPath: '/scratch', readOnly: true }] },
    'Deployment',
    base,
    `${main}.volumeMounts.0`,
    { name: 'scratch', mountPath: '/scratch', readOnly: true },
  ],
  [
    'init_containers',
    { init_containers: [{ name: 'fetch', image: 'fetch:1' }] },
    'Deployment',
    base,
    `${pod}.initContainers.0`,
    { name: 'fetch', image: 'fetch:1' },
  ],
  ['sidecars', { sidecars: [sidecar] }, 'Deployment', base, `${pod}.containers.1`, sidecar],
  ['db_cpu', { db_cpu: 1 }, 'StatefulSet', `${base}-db`, `${main}.resources.requests.cpu`, '1'],
  ['db_cpu_limit', { db_cpu_limit: 3 }, 'StatefulSet', `${base}-db`, `${main}.resources.limits.cpu`, '3'],
  ['db_memory_mb', { db_memory_mb: 2_000 }, 'StatefulSet', `${base}-db`, `${main}.resources.requests.memory`, '2000M'],
  [
    'db_memory_limit_mb',
    { db_memory_limit_mb: 2_500 },
    'StatefulSet',
    `${base}-db`,
    `${main}.resources.limits.memory`,
    '2500M',
  ],
  [
    'db_storage_gi',
    { db_storage_gi: 20 },
    'PersistentVolumeClaim',
    `${base}-db`,
    'spec.resources.requests.storage',
    '20Gi',
  ],
  [
    'db_max_connections',
    { db_max_connections: 150 },
    'StatefulSet',
    `${base}-db`,
    `${main}.args.1`,
    'max_connections=150',
  ],
];

const whole: ResourceSpec = {
  ...Object.assign({}, ...used.map(([, spec]) => spec)),
  max_scale: 5,
  memory_limit_mb: 1_024,
  sidecars: [sidecar, { name: 'tunnel', image: 'tunnel:1', restartPolicy: 'Always', env: [{ name: 'TO' }] }],
};

describe('where the fields of a ResourceSpec end up', () => {
  test.each(used)('%s', (_field, spec, kind, name, path, value) => {
    expect(at(one(madeOf(spec).manifests, kind, name), path)).toEqual(value);
  });

  test.each(unusedResourceFields.map((field) => [field]))('%s changes nothing and is reported as ignored', (field) => {
    const { manifests, ignored } = madeOf({ [field]: 2 });
    expect(manifests).toEqual(madeOf({}).manifests);
    expect(ignored).toEqual([field]);
  });

  test('every field of the schema has its row', () => {
    const rows = [...used.map(([field]) => field), ...unusedResourceFields];
    expect(rows.toSorted()).toEqual(Object.keys(resourceFields.shape).toSorted());
  });
});

describe('pod fields of a ResourceSpec are copied unchanged and known to Kubernetes', () => {
  /** The value at a path of the agent's pod, in an object that Kubernetes accepts. */
  const inPod = (spec: ResourceSpec, path: string): unknown => {
    const deployment = one(madeOf(spec).manifests, 'Deployment', base);
    expect(schemaProblems(deployment)).toEqual([]);
    expect(admissionProblems({ ...deployment }, undefined)).toEqual([]);
    return at(deployment, `${pod}.${path}`);
  };

  const volumes: Record<string, Record<string, unknown>> = {
    configMap: { name: 'models', items: [{ key: 'a', path: 'b' }], defaultMode: 256, optional: true },
    secret: { secretName: 'keys', items: [{ key: 'a', path: 'b' }] },
    emptyDir: { medium: 'Memory', sizeLimit: '64Mi' },
    persistentVolumeClaim: { claimName: 'models', readOnly: true },
    nfs: { server: 'nfs.example.com', path: '/models', readOnly: true },
    projected: {
      sources: [
        { secret: { name: 'keys' } },
        { configMap: { name: 'models' } },
        { serviceAccountToken: { path: 'token', audience: 'models', expirationSeconds: 3_600 } },
      ],
    },
    downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
    csi: { driver: 'secrets-store.csi.k8s.io', readOnly: true, volumeAttributes: { secretProviderClass: 'keys' } },
  };
  test.each(Object.entries(volumes))('a volume of kind %s', (kind, source) => {
    const given = { name: 'given', [kind]: source };
    expect(inPod({ volumes: [volume.parse(given)] }, 'volumes.0')).toEqual(given);
  });
  test('every kind of volume has its row', () => {
    expect(Object.keys(volumes).toSorted()).toEqual(volumeKinds.toSorted());
  });

  const mounts: Record<string, Record<string, unknown>> = {
    subPath: { subPath: 'small/one' },
    subPathExpr: { subPathExpr: '$(LANDFALL_REVISION_ID)' },
    mountPropagation: { mountPropagation: 'HostToContainer' },
    readOnly: { readOnly: true },
  };
  test.each(Object.entries(mounts))('%s of a mount', (_, fields) => {
    const given = { name: 'scratch', mountPath: '/scratch', ...fields };
    const scratch = { name: 'scratch', emptyDir: {} };
    expect(
      inPod({ volumes: [scratch], volume_mounts: [volumeMount.parse(given)] }, 'containers.0.volumeMounts.0'),
    ).toEqual(given);
  });
  test('every field of a mount has its row', () => {
    expect(['name', 'mountPath', ...Object.keys(mounts)].toSorted()).toEqual(Object.keys(volumeMount.shape).toSorted());
  });

  const parts: [title: string, field: string, value: unknown][] = [
    ['the pull policy', 'imagePullPolicy', 'Never'],
    ['the command', 'command', ['/bin/proxy', '--verbose']],
    ['its arguments', 'args', ['$(TO)', 'x']],
    ['the working directory', 'workingDir', '/srv'],
    ['a variable', 'env', [{ name: 'TO', value: 'models.example.com' }]],
    [
      'a variable from a secret',
      'env',
      [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'main', optional: true } } }],
    ],
    [
      'a variable from a config map',
      'env',
      [{ name: 'TO', valueFrom: { configMapKeyRef: { name: 'models', key: 'to' } } }],
    ],
    ['a variable from the pod', 'env', [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }]],
    [
      'a variable from its resources',
      'env',
      [{ name: 'CPUS', valueFrom: { resourceFieldRef: { containerName: 'proxy', resource: 'limits.cpu' } } }],
    ],
    [
      'all variables of a secret or a config map',
      'envFrom',
      [{ secretRef: { name: 'keys' } }, { prefix: 'M_', configMapRef: { name: 'models', optional: true } }],
    ],
    [
      'its resources',
      'resources',
      { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '128Mi', 'nvidia.com/gpu': '1' } },
    ],
    ['its mounts', 'volumeMounts', [{ name: 'scratch', mountPath: '/scratch', subPath: 'proxy', readOnly: true }]],
    [
      'its security context',
      'securityContext',
      { runAsUser: 1_000, runAsNonRoot: true, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
    ],
  ];
  test.each(parts)('%s of a sidecar, and of an init container', (_, field, value) => {
    const given = container.parse({ ...sidecar, [field]: value });
    const volumes = [{ name: 'scratch', emptyDir: {} }];
    expect(inPod({ volumes, sidecars: [given] }, `containers.1.${field}`)).toEqual(value);
    expect(inPod({ volumes, init_containers: [given] }, `initContainers.0.${field}`)).toEqual(value);
    const always = { ...given, restartPolicy: 'Always' } as const;
    expect(inPod({ volumes, sidecars: [always] }, `initContainers.0.${field}`)).toEqual(value);
  });
  test('every field of a container has its row', () => {
    const rows = ['name', 'image', 'restartPolicy', ...parts.map(([, field]) => field)];
    expect([...new Set(rows)].toSorted()).toEqual(Object.keys(container.shape).toSorted());
  });

  test('drops null fields, and treats a variable without a value as empty', () => {
    const nulls = {
      command: null,
      env: [{ name: 'TO', value: null, valueFrom: null }],
      resources: null,
      envFrom: null,
    };
    expect(inPod({ sidecars: [container.parse({ ...sidecar, ...nulls })] }, 'containers.1')).toEqual({
      ...sidecar,
      env: [{ name: 'TO', value: '' }],
    });
    const resources = { limits: null, requests: { cpu: '1' } };
    expect(inPod({ sidecars: [container.parse({ ...sidecar, resources })] }, 'containers.1.resources')).toEqual({
      requests: { cpu: '1' },
    });
  });
});

describe('the manifests', () => {
  const kinds = (spec: ResourceSpec): string[] =>
    madeOf(spec).manifests.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(base, '*')}`);

  test.each<[string, ResourceSpec, string[]]>([
    ['are three for a plain deployment', {}, ['Secret *-env-beef0001', 'Service *', 'Deployment *']],
    [
      'add an autoscaler if there is room to scale',
      { min_scale: 1, max_scale: 2 },
      ['Secret *-env-beef0001', 'Service *', 'Deployment *', 'HorizontalPodAutoscaler *'],
    ],
    [
      'add no autoscaler for a fixed number',
      { min_scale: 2, max_scale: 2 },
      ['Secret *-env-beef0001', 'Service *', 'Deployment *'],
    ],
    [
      'add a cache on request',
      { cache_memory_mb: 50 },
      ['Secret *-env-beef0001', 'Service *', 'Service *-cache', 'Deployment *-cache', 'Deployment *'],
    ],
    [
      'add a database on request',
      { db_storage_gi: 1 },
      [
        'Secret *-env-beef0001',
        'Secret *-db',
        'PersistentVolumeClaim *-db',
        'Service *',
        'Service *-db',
        'StatefulSet *-db',
        'Deployment *',
      ],
    ],
  ])('%s', (_, spec, expected) => expect(kinds(spec)).toEqual(expected));

  test('create a database if no other one is given', () => {
    const { manifests } = kubernetesManifests(inputOf({ databaseUrl: '' }));
    const set = one(manifests, 'StatefulSet', `${base}-db`);
    // Otherwise a pod that never becomes ready would block its replacement.
    expect(at(set, 'spec.podManagementPolicy')).toBe('Parallel');
  });

  const volumeOf = (storageGi: number | undefined, former?: FormerVolume, storageClass?: string) => {
    const input = inputOf({ databaseUrl: '', resourceSpec: { db_storage_gi: storageGi } });
    const settings = { ...input.settings, storageClass };
    return one(
      kubernetesManifests({ ...input, formerVolume: former, settings }).manifests,
      'PersistentVolumeClaim',
      `${base}-db`,
    );
  };
  test.each<[string, number | undefined, FormerVolume | undefined, string]>([
    ['10 GiB if no size was ever requested', undefined, undefined, '10Gi'],
    ['the requested size', 30, { storage: '20Gi', storageClass: undefined }, '30Gi'],
    ['its current size without a request', undefined, { storage: '1536Mi', storageClass: undefined }, '1536Mi'],
  ])('give the database a volume of %s', (_, storageGi, former, storage) => {
    expect(at(volumeOf(storageGi, former), 'spec.resources.requests.storage')).toBe(storage);
  });

  test.each<[string, FormerVolume | undefined, string | undefined, string | undefined]>([
    ['the cluster’s default without a request', undefined, undefined, undefined],
    ['the requested one', undefined, 'fast', 'fast'],
    ['its current one, permanently', { storage: '9Gi', storageClass: 'slow' }, 'fast', 'slow'],
    ['none if it was created without one', { storage: '9Gi', storageClass: undefined }, 'fast', undefined],
  ])('give that volume the storage class: %s', (_, former, requested, expected) => {
    expect(at(volumeOf(undefined, former, requested), 'spec.storageClassName')).toBe(expected);
  });

  test.each<[string, ResourceSpec]>([
    ['of nothing', {}],
    ['of every field at once', whole],
    ...used.map(([field, spec]): [string, ResourceSpec] => [`of ${field}`, spec]),
  ])('%s match the schemas of Kubernetes, without unknown fields', (_, resourceSpec) => {
    const secrets = [{ name: 'API_KEY', value: 'not-for-your-eyes' }];
    const { manifests } = kubernetesManifests(inputOf({ resourceSpec, secrets }));
    for (const manifest of manifests) {
      expect(schemaProblems(manifest)).toEqual([]);
      expect(admissionProblems({ ...manifest }, undefined)).toEqual([]);
    }
  });

  test('are the same for the same input, and treat null as absent', () => {
    const nulls = Object.fromEntries(Object.keys(resourceFields.shape).map((field) => [field, null]));
    expect(madeOf(nulls)).toEqual(madeOf({}));
    expect(madeOf(whole)).toEqual(madeOf(structuredClone(whole)));
  });

  test('change only their pods and the name of the environment between revisions', () => {
    const next = kubernetesManifests(inputOf({ revisionId: '00000000-0000-4000-8000-0000beef0002' })).manifests;
    const before = madeOf({}).manifests;
    expect(next.map(({ metadata }) => metadata.name)).toEqual(
      before.map(({ metadata }) => metadata.name.replace('beef0001', 'beef0002')),
    );
    const deployment = [before, next].map((manifests) => one(manifests, 'Deployment', base));
    expect(at(deployment[0], 'spec.selector')).toEqual(at(deployment[1], 'spec.selector'));
    expect(at(deployment[0], 'spec.template.metadata.annotations')).not.toEqual(
      at(deployment[1], 'spec.template.metadata.annotations'),
    );
  });

  test.each([
    [true, 'allow'],
    [false, 'refuse'],
  ])('set whether the webhooks of agents may reach private networks (%s)', (privateWebhooks, value) => {
    const { settings } = inputOf();
    const { manifests } = kubernetesManifests(inputOf({}, { settings: { ...settings, privateWebhooks } }));
    const reported = at(one(manifests, 'Deployment', base), `${main}.env`);
    expect(reported).toContainEqual({ name: 'LANDFALL_WEBHOOK_PRIVATE', value });
  });

  test('leave the database and the cache unchanged when only the revision is new', () => {
    const parts = (revisionId: string) =>
      kubernetesManifests(inputOf({ revisionId, resourceSpec: whole })).manifests.filter(({ metadata }) =>
        /-(db|cache)$/.test(metadata.name),
      );
    expect(parts('00000000-0000-4000-8000-0000beef0002')).toEqual(parts('9a8b7c6d-0000-4000-8000-0000beef0001'));
  });

  test('set user labels and annotations on everything, overridden by ours', () => {
    const labels = { team: 'support', [labelKeys.instance]: 'mine' };
    const { manifests } = madeOf({ ...whole, labels, annotations: { owner: 'Ada' } });
    for (const { metadata } of manifests) {
      expect(metadata.labels).toMatchObject({
        team: 'support',
        [labelKeys.instance]: base,
        [labelKeys.managedBy]: 'landfall',
      });
      expect(metadata.annotations).toEqual({ owner: 'Ada' });
    }
  });

  test('hold no secret but in a Secret', () => {
    const secret = 'not-for-your-eyes';
    const tracing = { url: 'https://traces.example.com', token: 'token-of-the-traces' };
    const { manifests } = kubernetesManifests(
      inputOf({ secrets: [{ name: 'API_KEY', value: secret }], tracing, resourceSpec: whole }),
    );
    const open = JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'));
    for (const hidden of [secret, 'pass-of-the-database', 'pass-of-our-own-database', tracing.token])
      expect(open).not.toContain(hidden);
    const kept = one(manifests, 'Secret', `${base}-env-beef0001`).data;
    expect(Buffer.from(kept?.['API_KEY'] ?? '', 'base64').toString()).toBe(secret);
    expect(Buffer.from(kept?.['DATABASE_URI'] ?? '', 'base64').toString()).toBe(
      `postgres://agent:pass-of-our-own-database@${base}-db:5432/agent`,
    );
  });

  test('read variables from secrets, overridden by the platform', () => {
    const { manifests } = kubernetesManifests(
      inputOf({
        secrets: [
          { name: 'API_KEY', value: 'x' },
          { name: 'PORT', value: '1' },
        ],
        secretReferences: [{ name: 'MODEL_KEY', secret_name: 'models', secret_key: 'main' }],
      }),
    );
    expect(at(one(manifests, 'Deployment', base), `${main}.env`)).toEqual(
      expect.arrayContaining([
        { name: 'MODEL_KEY', valueFrom: { secretKeyRef: { name: 'models', key: 'main' } } },
        { name: 'API_KEY', valueFrom: { secretKeyRef: { name: `${base}-env-beef0001`, key: 'API_KEY' } } },
        { name: 'PORT', value: '8000' },
      ]),
    );
  });

  test.each([
    ['for every pod by its tag, which may have moved', 'registry.example.com/agent:1', 'Always'],
    ['once by its digest', `registry.example.com/agent@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  ])('have the image pulled %s', (_, imageUri, policy) => {
    const { manifests } = kubernetesManifests(inputOf({}, { imageUri }));
    expect(at(one(manifests, 'Deployment', base), `${main}.imagePullPolicy`)).toBe(policy);
  });

  test('start permanent sidecars first, others in parallel, and report ignored fields', () => {
    const { manifests, ignored } = madeOf({
      init_containers: [{ name: 'fetch', image: 'fetch:1' }],
      sidecars: [
        { ...sidecar, restartPolicy: 'Always' },
        { name: 'once', image: 'once:1', restartPolicy: 'OnFailure' },
      ],
    });
    const template = at(one(manifests, 'Deployment', base), pod);
    expect(at(template, 'initContainers')).toEqual([
      { name: 'fetch', image: 'fetch:1' },
      { ...sidecar, restartPolicy: 'Always' },
    ]);
    expect(at(template, 'containers.1')).toEqual({ name: 'once', image: 'once:1' });
    expect(ignored).toEqual(['sidecars.once.restartPolicy']);
  });

  test('rename the main container if a sidecar has its name, and scale the right one', () => {
    const { manifests } = madeOf({ sidecars: [{ name: 'agent', image: 'x:1' }], max_scale: 2 });
    expect(at(one(manifests, 'Deployment', base), `${main}.name`)).toBe('landfall-agent');
    expect(at(one(manifests, 'HorizontalPodAutoscaler', base), 'spec.metrics.0.containerResource.container')).toBe(
      'landfall-agent',
    );
  });

  test.each<[string, ResourceSpec, number | undefined, number]>([
    ['the smallest number if nothing runs yet', { min_scale: 2, max_scale: 5 }, undefined, 2],
    ['the running number if the cluster scaled up', { min_scale: 2, max_scale: 5 }, 4, 4],
    ['the maximum if more run', { min_scale: 1, max_scale: 3 }, 9, 3],
    ['the minimum if fewer run', { min_scale: 3 }, 1, 3],
    ['one without a setting', {}, undefined, 1],
    ['one for a minimum of zero, since nothing would scale it up', { min_scale: 0 }, undefined, 1],
    ['zero for a maximum of zero', { max_scale: 0 }, 2, 0],
  ])('request %s', (_, resourceSpec, agent, replicas) => {
    const { manifests } = kubernetesManifests(inputOf({ resourceSpec }, { running: { agent } }));
    expect(at(one(manifests, 'Deployment', base), 'spec.replicas')).toBe(replicas);
  });
});

describe('the names of a deployment’s objects', () => {
  test.each([
    ['keep the deployment’s name', 'support-agent', 'support-agent-0c0ffee0'],
    ['start with a letter, as the name of a Service must', '2nd-agent', 'd-2nd-agent-0c0ffee0'],
    ['leave room for suffixes of controllers', 'a'.repeat(63), `${'a'.repeat(31)}-0c0ffee0`],
    [
      'never have two hyphens where a long one is cut',
      `${'a'.repeat(30)}-${'b'.repeat(20)}`,
      `${'a'.repeat(30)}-0c0ffee0`,
    ],
  ])('%s', (_, name, expected) => {
    expect(baseName({ name, id: '4d1f2a3b-0000-4000-8000-00000c0ffee0' })).toBe(expected);
  });
});

test('the schemas match the installed client', () => {
  expect(kubernetesSchemas).toEqual(readKubernetesSchemas());
});
