/**
 * What docs/design/contract.md requires of a ResourceSpec, secret references and the namespace, checked by the objects
 * in a cluster.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkClaim } from '../../../../src/contract/control/listener-work.ts';
import { resourceSpec as resourceSpecShape } from '../../../../src/contract/control/resource-spec.ts';
import type { AgentStart } from '../../../../src/services/control/compute/compute.ts';
import { kubernetesCompute } from '../../../../src/services/control/compute/kubernetes-compute.ts';
import { fromImage, unknownId, openServiceFixture, type ServiceFixture } from '../service-fixture.ts';
import { startApiServer, type ApiServer } from './api-server.ts';
import type { Stored } from './cluster-state.ts';
import { inHaste, reasonOf, specOf } from './clusters.ts';
import { at } from './inputs.ts';
import { eachClaim } from '../../../conformance/each-claim.ts';

const pod = 'spec.template.spec';
const main = `${pod}.containers.0`;
const requests = `${main}.resources.requests`;
const limits = `${main}.resources.limits`;

/** A deployment that is in the cluster, or is not. */
interface Landed {
  start: AgentStart;
  /** The value at a path of the object of a kind whose name ends so: `` is the agent's own, `-queue`, `-cache`, `-db`. */
  reported: (kind: string, part: string, path: string) => unknown;
  objects: Stored[];
  /** What the agent's container sees in its environment. */
  environment: () => Record<string, string>;
}

interface Changes {
  resource_spec?: Record<string, unknown>;
  secrets?: object[];
  secret_references?: object[];
  namespace?: string;
}

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  let api: ApiServer;
  beforeAll(async () => {
    [fixture, api] = await Promise.all([openServiceFixture(), startApiServer(['default', 'team-a', 'team-b'])]);
  });
  afterAll(() => Promise.all([fixture.close(), api.close()]));

  /** Creates a deployment and rolls its first revision out in the cluster as its listener would. */
  async function landed({ resource_spec = {}, namespace = 'team-a', ...rest }: Changes): Promise<Landed> {
    const { id: listener } = await fixture.control.createListener({
      compute_type: 'k8s',
      compute_id: unknownId(),
      compute_config: {},
    });
    const source_config = { listener_id: listener, listener_config: { k8s_namespace: namespace }, resource_spec };
    const { id } = await fixture.control.createDeployment(fromImage({ ...rest, source_config }));
    const work = await fixture.control.claimWork(listener, { holder: 'test' });
    if (!work?.revision) throw new Error('there is no revision to carry out');
    const start = await carriedOut(work);
    const end = start.kind === 'running' ? { status: 'DEPLOYED' } : { status: 'DEPLOY_FAILED', message: start.reason };
    await fixture.control.reportWork(listener, work.claim_id, end);
    const all = Object.values([
      'secrets',
      'persistentvolumeclaims',
      'services',
      'statefulsets',
      'deployments',
      'horizontalpodautoscalers',
      'pods',
    ]);
    const objects = all
      .flatMap((resource) => api.state.list(resource))
      .filter(({ metadata }) => metadata.labels['landfall/deployment-id'] === id);
    const named = (kind: string, part: string) =>
      objects.find(
        (one) =>
          one.kind === kind &&
          new RegExp(`-[0-9a-f]{8}${part}$`).test(one.metadata.name) &&
          !/-env-/.test(one.metadata.name),
      );
    return {
      start,
      objects,
      reported: (kind, part, path) => at(named(kind, part), path),
      environment: () => {
        const agent = objects.find(({ kind }) => kind === 'Pod');
        return api.controller.environment(namespace, agent?.metadata.name ?? '', 'agent');
      },
    };
  }

  async function carriedOut({ deployment, revision }: WorkClaim): Promise<AgentStart> {
    const spec = specOf({}, []);
    return kubernetesCompute(inHaste(api.kubeconfig)).start(
      {
        ...spec,
        deploymentId: deployment.id,
        revisionId: revision?.id ?? '',
        name: deployment.name,
        program: { kind: 'image', imageUri: revision?.image_uri ?? '' },
        databaseUrl: 'postgres://agent:pass@db.example.com:5432/agent',
        secrets: revision?.secrets ?? [],
        secretReferences: revision?.secret_references ?? [],
        resourceSpec: resourceSpecShape.parse(revision?.resource_spec ?? {}),
        namespace: deployment.namespace ?? undefined,
      },
      new AbortController().signal,
    );
  }

  // One deployment covers many claims: each spec leaves the other fields to their defaults.
  const scaled = { min_scale: 2, max_scale: 4, cpu: 1.5, memory_mb: 512, queue_cpu_limit: 9 };
  const queued = { cpu: 2, memory_mb: 300, queue_cpu: 0.7, queue_memory_mb: 200 };
  const equipped = {
    cache_cpu: 0.3,
    cache_memory_mb: 128,
    db_cpu: 2,
    db_memory_mb: 1_000,
    db_storage_gi: 15,
    db_max_connections: 250,
    image_pull_secrets: [{ name: 'registry' }],
  };
  const limited = {
    cpu: 1,
    cpu_limit: 2.5,
    memory_mb: 512,
    memory_limit_mb: 700,
    db_cpu_limit: 3,
    db_memory_limit_mb: 900,
  };
  const known = new Map<object, Promise<Landed>>();
  const landedOnce = (resource_spec: Record<string, unknown>): Promise<Landed> => {
    const landing = known.get(resource_spec) ?? landed({ resource_spec });
    known.set(resource_spec, landing);
    return landing;
  };

  /** The claims and the title; the ResourceSpec; the object; the path in it; the expected value. */
  eachClaim<[string, Record<string, unknown>, string, string, string, unknown]>([
    [
      'control.resource-spec.cpu-in-cores control.resource-spec.cpu-request',
      'every replica requests that many cores',
      scaled,
      'Deployment',
      '',
      `${requests}.cpu`,
      '1500m',
    ],
    [
      'control.resource-spec.cpu-limit-default',
      'without cpu_limit it may use twice as many',
      scaled,
      'Deployment',
      '',
      `${limits}.cpu`,
      '3',
    ],
    [
      'control.resource-spec.memory-in-mb control.resource-spec.memory-mb-request',
      'every replica requests that many MB',
      scaled,
      'Deployment',
      '',
      `${requests}.memory`,
      '512M',
    ],
    [
      'control.resource-spec.memory-limit-mb-default',
      'without memory_limit_mb it may use twice as many',
      scaled,
      'Deployment',
      '',
      `${limits}.memory`,
      '1024M',
    ],
    [
      'control.resource-spec.cpu-limit-given',
      'a replica may use cpu_limit cores',
      limited,
      'Deployment',
      '',
      `${limits}.cpu`,
      '2500m',
    ],
    [
      'control.resource-spec.memory-limit-mb-given',
      'a replica may use memory_limit_mb MB',
      limited,
      'Deployment',
      '',
      `${limits}.memory`,
      '700M',
    ],
    [
      'control.resource-spec.db-cpu-limit-given',
      'the database may use db_cpu_limit cores',
      limited,
      'StatefulSet',
      '-db',
      `${limits}.cpu`,
      '3',
    ],
    [
      'control.resource-spec.db-memory-limit-mb-given',
      'the database may use db_memory_limit_mb MB',
      limited,
      'StatefulSet',
      '-db',
      `${limits}.memory`,
      '900M',
    ],
    [
      'control.resource-spec.min-scale-replicas',
      'starts with min_scale replicas',
      scaled,
      'Deployment',
      '',
      'spec.replicas',
      2,
    ],
    [
      'control.resource-spec.min-scale-replicas',
      'the cluster runs no fewer than min_scale',
      scaled,
      'HorizontalPodAutoscaler',
      '',
      'spec.minReplicas',
      2,
    ],
    [
      'control.resource-spec.min-scale-replicas',
      'keeps a replica until its successor is ready',
      scaled,
      'Deployment',
      '',
      'spec.strategy.rollingUpdate.maxUnavailable',
      0,
    ],
    [
      'control.resource-spec.max-scale-replicas',
      'the cluster runs no more than max_scale',
      scaled,
      'HorizontalPodAutoscaler',
      '',
      'spec.maxReplicas',
      4,
    ],
    [
      'control.resource-spec.queue-min-scale-default',
      'without queue_min_scale the queue has min_scale',
      scaled,
      'Deployment',
      '-queue',
      'spec.replicas',
      2,
    ],
    [
      'control.resource-spec.queue-max-scale-default',
      'without queue_max_scale the queue has max_scale',
      scaled,
      'HorizontalPodAutoscaler',
      '-queue',
      'spec.maxReplicas',
      4,
    ],
    [
      'control.resource-spec.queue-cpu-default',
      'without queue_cpu the queue requests cpu',
      scaled,
      'Deployment',
      '-queue',
      `${requests}.cpu`,
      '1500m',
    ],
    [
      'control.resource-spec.queue-memory-mb-default',
      'without queue_memory_mb the queue requests memory_mb',
      scaled,
      'Deployment',
      '-queue',
      `${requests}.memory`,
      '512M',
    ],
    [
      'control.resource-spec.queue-cpu-limit-default',
      'without queue_cpu_limit the queue may use twice queue_cpu',
      queued,
      'Deployment',
      '-queue',
      `${limits}.cpu`,
      '1400m',
    ],
    [
      'control.resource-spec.queue-memory-limit-mb-default',
      'without queue_memory_limit_mb the queue may use twice queue_memory_mb',
      queued,
      'Deployment',
      '-queue',
      `${limits}.memory`,
      '400M',
    ],
    [
      'control.resource-spec.cache-cpu-request',
      'the cache requests cache_cpu',
      equipped,
      'Deployment',
      '-cache',
      `${requests}.cpu`,
      '300m',
    ],
    [
      'control.resource-spec.cache-cpu-limit-default',
      'without cache_cpu_limit the cache may use twice cache_cpu',
      equipped,
      'Deployment',
      '-cache',
      `${limits}.cpu`,
      '600m',
    ],
    [
      'control.resource-spec.cache-memory-mb-request',
      'the cache requests cache_memory_mb',
      equipped,
      'Deployment',
      '-cache',
      `${requests}.memory`,
      '128M',
    ],
    [
      'control.resource-spec.cache-memory-limit-mb-default',
      'without cache_memory_limit_mb the cache may use as much as it requests',
      equipped,
      'Deployment',
      '-cache',
      `${limits}.memory`,
      '128M',
    ],
    [
      'control.resource-spec.image-pull-secrets-used',
      'images are pulled with the named credentials',
      equipped,
      'Deployment',
      '',
      `${pod}.imagePullSecrets`,
      [{ name: 'registry' }],
    ],
    [
      'control.resource-spec.db-cpu-request',
      'the database requests db_cpu',
      equipped,
      'StatefulSet',
      '-db',
      `${requests}.cpu`,
      '2',
    ],
    [
      'control.resource-spec.db-cpu-limit-default',
      'without db_cpu_limit the database may use twice db_cpu',
      equipped,
      'StatefulSet',
      '-db',
      `${limits}.cpu`,
      '4',
    ],
    [
      'control.resource-spec.db-memory-mb-request',
      'the database requests db_memory_mb',
      equipped,
      'StatefulSet',
      '-db',
      `${requests}.memory`,
      '1000M',
    ],
    [
      'control.resource-spec.db-memory-limit-mb-default',
      'without db_memory_limit_mb the database may use twice db_memory_mb',
      equipped,
      'StatefulSet',
      '-db',
      `${limits}.memory`,
      '2000M',
    ],
    [
      'control.resource-spec.db-storage-gi-unit',
      'the storage of the database is counted in GiB',
      equipped,
      'PersistentVolumeClaim',
      '-db',
      'spec.resources.requests.storage',
      '15Gi',
    ],
    [
      'control.resource-spec.db-max-connections-limit',
      'limits the number of database connections',
      equipped,
      'StatefulSet',
      '-db',
      `${main}.args`,
      ['-c', 'max_connections=250'],
    ],
  ])('%s', {}, async (_, resource_spec, kind, part, path, value) => {
    const { start, reported } = await landedOnce(resource_spec);
    expect(start.kind).toBe('running');
    expect(reported(kind, part, path)).toEqual(value);
  });

  test(
    'a fixed number of replicas needs no autoscaler',
    { meta: { claims: ['control.resource-spec.max-scale-replicas'] } },
    async () => {
      const { reported, objects } = await landed({ resource_spec: { min_scale: 2, max_scale: 2 } });
      expect(reported('Deployment', '', 'spec.replicas')).toBe(2);
      expect(objects.filter(({ kind }) => kind === 'Pod')).toHaveLength(2);
      expect(objects.some(({ kind }) => kind === 'HorizontalPodAutoscaler')).toBe(false);
    },
  );

  eachClaim([
    [
      'control.resource-spec.orchestrator-unused',
      'the orchestrator fields',
      'orchestrator',
      ['cpu', 'cpu_limit', 'memory_mb', 'memory_limit_mb', 'min_scale', 'max_scale'],
    ],
    [
      'control.resource-spec.executor-unused',
      'the executor fields',
      'executor',
      ['cpu', 'cpu_limit', 'memory_mb', 'memory_limit_mb'],
    ],
  ])('%s have no effect', {}, async (_, prefix, fields) => {
    const resource_spec = Object.fromEntries(fields.map((field) => [`${prefix}_${field}`, 7]));
    const [plain, requested] = [await landed({}), await landed({ resource_spec })];
    expect(requested.objects.map(({ kind }) => kind)).toEqual(plain.objects.map(({ kind }) => kind));
    expect(requested.reported('Deployment', '', `${main}.resources`)).toBeUndefined();
    expect(requested.reported('Deployment', '', 'spec.replicas')).toBe(1);
  });

  test(
    'sets labels and annotations on every object and on the pods',
    { meta: { claims: ['control.resource-spec.labels-applied', 'control.resource-spec.annotations-applied'] } },
    async () => {
      const resource_spec = {
        labels: { team: 'support' },
        annotations: { owner: 'Ada' },
        cache_cpu: 1,
        db_cpu: 1,
        queue_cpu: 1,
        max_scale: 2,
      };
      const { objects } = await landed({ resource_spec });
      expect(new Set(objects.map(({ kind }) => kind)).size).toBe(7);
      for (const { metadata } of objects) {
        expect(metadata.labels).toMatchObject({ team: 'support' });
        expect(metadata.annotations).toMatchObject({ owner: 'Ada' });
      }
    },
  );

  test(
    'a missing service account is reported and not created',
    { meta: { claims: ['control.resource-spec.service-account-name-exists'] } },
    async () => {
      const resource_spec = { service_account_name: 'agents' };
      const { start, objects } = await landed({ resource_spec });
      expect(reasonOf(start)).toContain(
        'The service account agents is not in the namespace team-a. It has to be there beforehand',
      );
      expect(objects).toEqual([]);
      expect(api.state.list('serviceaccounts')).toEqual([]);
      api.state.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'agents', namespace: 'team-b' } });
      const other = await landed({ resource_spec, namespace: 'team-b' });
      expect(other.reported('Deployment', '', `${pod}.serviceAccountName`)).toBe('agents');
      api.state.remove('serviceaccounts', 'team-b', 'agents');
    },
  );

  test.each([
    ['kubernetes.io/dockerconfigjson', 'running'],
    ['kubernetes.io/dockercfg', 'running'],
    ['Opaque', 'failed'],
    [undefined, 'failed'],
  ])(
    'a pull credential has the type of one: with a Secret of the type %s the revision is %s',
    { meta: { claims: ['control.resource-spec.image-pull-secrets-type'] } },
    async (type, kind) => {
      const metadata = { name: 'registry', namespace: 'team-b' };
      api.state.put({ apiVersion: 'v1', kind: 'Secret', metadata, ...(type && { type }) });
      const resource_spec = { image_pull_secrets: [{ name: 'registry' }] };
      const { start } = await landed({ resource_spec, namespace: 'team-b' });
      api.state.remove('secrets', 'team-b', 'registry');
      expect(start.kind).toBe(kind);
      expect(start.kind === 'failed' ? start.reason : '').toMatch(
        kind === 'failed'
          ? /^The Secret registry in the namespace team-b is of the type Opaque, .+ docker-registry/
          : '',
      );
    },
  );

  test(
    'Kubernetes runs the init containers before the main container, one by one',
    { meta: { claims: ['control.resource-spec.init-containers-run-first'] } },
    async () => {
      const init_containers = [
        { name: 'fetch', image: 'fetch:1' },
        { name: 'migrate', image: 'migrate:1' },
      ];
      const { reported } = await landed({ resource_spec: { init_containers } });
      expect(reported('Deployment', '', `${pod}.initContainers`)).toMatchObject(init_containers);
      expect(reported('Deployment', '', `${pod}.containers`)).toHaveLength(1);
      api.controller.outcomes.set('', 'init crashes');
      const failed = await landed({ resource_spec: { init_containers } });
      api.controller.outcomes.delete('');
      expect(reasonOf(failed.start)).toContain('container fetch ended with exit code 1');
    },
  );

  test(
    'sidecars run beside the main container; one that always runs starts first',
    { meta: { claims: ['control.resource-spec.sidecars-run-alongside'] } },
    async () => {
      const sidecars = [
        { name: 'proxy', image: 'proxy:1' },
        { name: 'tunnel', image: 'tunnel:1', restartPolicy: 'Always' },
      ];
      const { reported } = await landed({ resource_spec: { sidecars } });
      expect(reported('Deployment', '', `${pod}.containers.1`)).toMatchObject({ name: 'proxy' });
      expect(reported('Deployment', '', `${pod}.initContainers.0`)).toMatchObject({
        name: 'tunnel',
        restartPolicy: 'Always',
      });
    },
  );

  test(
    'creates everything in the named namespace',
    { meta: { claims: ['control.listener-config.k8s-namespace-used'] } },
    async () => {
      const { objects } = await landed({ namespace: 'team-b', resource_spec: { db_cpu: 1, cache_cpu: 1 } });
      expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['team-b']));
    },
  );

  test(
    'sets the variable to the value of that key',
    { meta: { claims: ['control.secret-reference.name-populates', 'control.secret-reference.secret-key-value'] } },
    async () => {
      const data = { first: Buffer.from('one').toString('base64'), second: Buffer.from('two').toString('base64') };
      api.state.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'models', namespace: 'team-a' }, data });
      const secret_references = [{ name: 'MODEL_KEY', secret_name: 'models', secret_key: 'second' }];
      const { environment } = await landed({ secret_references, secrets: [{ name: 'OWN', value: 'own value' }] });
      expect(environment()).toMatchObject({ MODEL_KEY: 'two', OWN: 'own value' });
    },
  );

  test(
    'a secret of another namespace is not found',
    { meta: { claims: ['control.secret-reference.secret-name-namespace'] } },
    async () => {
      api.state.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'other-namespace', namespace: 'team-b' },
        data: { key: 'eA==' },
      });
      const secret_references = [{ name: 'KEY', secret_name: 'other-namespace', secret_key: 'key' }];
      expect(reasonOf((await landed({ secret_references })).start)).toContain('secret "other-namespace" not found');
      expect((await landed({ secret_references, namespace: 'team-b' })).environment()).toMatchObject({ KEY: 'x' });
    },
  );
});
