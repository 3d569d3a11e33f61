import { describe, expect, test } from 'vitest';
import { at, base, inputOf } from './inputs.ts';
import type { Fate } from './controller.ts';
import type { ApiServer, Fault } from './api-server.ts';
import { hurried, inHaste, reasonOf, revisions, specOf, withCluster } from './clusters.ts';
import { ClaimLost } from '../../../../src/services/control/compute/compute.ts';
import { kubernetesCompute } from '../../../../src/services/control/compute/kubernetes-compute.ts';
import { keepLease } from '../../../../src/services/listener/lease.ts';

const [first = '', second = ''] = revisions;
const env = `Secret *-env-beef000`;

describe('a revision in a cluster', () => {
  test('is applied server-side, strictly, as one manager, and runs once ready', () =>
    withCluster(async ({ api, start, names, logged }) => {
      const started = await start();
      expect(started).toMatchObject({ kind: 'running', agent: { origin: `http://${base}.team-a.svc`, token: '' } });
      expect(names()).toEqual([`${env}1`, 'Service *', 'Deployment *']);
      const applies = api.seen.filter(({ method }) => method === 'PATCH');
      expect(new Set(applies.map(({ contentType }) => contentType))).toEqual(new Set(['application/apply-patch+yaml']));
      for (const { query } of applies)
        expect(query).toEqual({ fieldManager: 'landfall', force: 'false', fieldValidation: 'Strict' });
      expect(logged.join('\n')).toContain('1 replicas are available');
      expect(at(api.find('deployments', 'team-a', base), 'status.availableReplicas')).toBe(1);
    }));

  test('replaces the former one in the same Deployment and prunes its environment', () =>
    withCluster(async ({ api, start, names }) => {
      await start({ resourceSpec: { min_scale: 1, max_scale: 3, cache_memory_mb: 64 } });
      api.state.own('deployments', 'team-a', base, 'kube-controller-manager', { spec: { replicas: 3 } });
      const next = await start({ revisionId: second, resourceSpec: { min_scale: 1, max_scale: 5 } });
      expect(next.kind).toBe('running');
      expect(names()).toEqual([`${env}2`, 'Service *', 'Deployment *', 'HorizontalPodAutoscaler *']);
      const deployment = api.find('deployments', 'team-a', base);
      expect(at(deployment, 'spec.replicas')).toBe(3);
      expect(api.state.list('pods', 'team-a').map(({ metadata }) => metadata.labels['landfall/revision-id'])).toEqual([
        second,
        second,
        second,
      ]);
    }));

  test('drops fields that it no longer sets, one by one', () =>
    withCluster(async ({ api, start }) => {
      await start({
        resourceSpec: { cpu: 1, labels: { team: 'support' }, sidecars: [{ name: 'proxy', image: 'proxy:1' }] },
      });
      await start({ revisionId: second, resourceSpec: {} });
      const deployment = api.find('deployments', 'team-a', base);
      expect(deployment?.metadata.labels).not.toHaveProperty('team');
      expect(at(deployment, 'spec.template.spec.containers')).toHaveLength(1);
      expect(at(deployment, 'spec.template.spec.containers.0')).not.toHaveProperty('resources');
    }));

  test('keeps the data and password of its database until the deployment is deleted', () =>
    withCluster(async ({ api, compute, start, names }) => {
      const password = () => at(api.find('secrets', 'team-a', `${base}-db`), 'data.password');
      await start({ resourceSpec: { db_storage_gi: 5 } });
      const kept = password();
      await start({ revisionId: second, resourceSpec: {} });
      expect(names()).toEqual([`Secret *-db`, `${env}2`, 'PersistentVolumeClaim *-db', 'Service *', 'Deployment *']);
      await start({ revisionId: second, resourceSpec: { db_storage_gi: 6 } });
      expect(password()).toBe(kept);
      await compute.remove({ id: inputOf().spec.deploymentId, name: 'support-agent', namespace: 'team-a' });
      expect(names()).toEqual([]);
      expect(api.state.list('pods', 'team-a')).toEqual([]);
    }));

  test('keeps the size of its database when a later revision does not repeat it', () =>
    withCluster(async ({ api, start }) => {
      const size = () =>
        at(api.find('persistentvolumeclaims', 'team-a', `${base}-db`), 'spec.resources.requests.storage');
      await start({ databaseUrl: '', resourceSpec: { db_storage_gi: 20 } });
      expect((await start({ databaseUrl: '', revisionId: second, resourceSpec: { cpu: 1 } })).kind).toBe('running');
      expect(size()).toBe('20Gi');
      await start({ databaseUrl: '', revisionId: second, resourceSpec: { db_storage_gi: 25 } });
      expect(size()).toBe('25Gi');
    }));

  test('keeps the storage class of its database when the listener changes its default', () =>
    withCluster(
      async ({ api, start, logged }) => {
        const spec = { databaseUrl: '', resourceSpec: {} };
        await start(spec);
        const other = kubernetesCompute({ ...inHaste(api.kubeconfig), storageClass: 'slow' });
        const next = await other.start(specOf({ ...spec, revisionId: second }, logged), new AbortController().signal);
        expect(next.kind).toBe('running');
        expect(at(api.find('persistentvolumeclaims', 'team-a', `${base}-db`), 'spec.storageClassName')).toBe('fast');
      },
      { storageClass: 'fast' },
    ));

  test('creates what its agents depend on before it starts them', () =>
    withCluster(async ({ api, start }) => {
      await start({ resourceSpec: { db_storage_gi: 5, cache_cpu: 0.5 } });
      const order = api.seen
        .filter(({ path }) => /statefulsets\/|deployments\//.test(path))
        .map(({ method, path }) => `${method} ${path.split('/').at(-1)}`);
      const ready = order.lastIndexOf(`GET ${base}-db`);
      expect(order.indexOf(`PATCH ${base}`)).toBeGreaterThan(ready);
      expect(order.indexOf(`PATCH ${base}-db`)).toBeLessThan(ready);
    }));

  test('can be started again after an interrupted start', () =>
    withCluster(async ({ start, names }) => {
      await start();
      expect((await start()).kind).toBe('running');
      expect(names()).toEqual([`${env}1`, 'Service *', 'Deployment *']);
    }));

  test.each([
    ['that it names', 'team-a', 'default', 'team-a'],
    ['of the settings, if it names none', undefined, 'team-a', 'team-a'],
    ['of the kubeconfig context, if there is no other', undefined, undefined, 'default'],
  ])('goes to the namespace %s', (_, requested, set, expected) =>
    withCluster(
      async ({ start, names }) => {
        await start({ namespace: requested });
        expect(names(expected)).toHaveLength(3);
      },
      { namespace: set },
    ),
  );

  test('is left unchanged when another holder may already work on it', () =>
    withCluster(async ({ api, start, names }) => {
      api.controller.outcomes.set('', 'stands still');
      const giveUp = new AbortController();
      const starting = start({}, giveUp.signal);
      await expect.poll(() => names()).toHaveLength(3);
      giveUp.abort(new ClaimLost('its lease ran out'));
      expect(reasonOf(await starting)).toBe('The lease was lost: its lease ran out');
      expect(names()).toHaveLength(3);
    }));

  test('keeps running when it is stopped, and is removed twice without an error', () =>
    withCluster(async ({ compute, start, names }) => {
      const started = await start();
      if (started.kind !== 'running') throw new Error(started.reason);
      await started.agent.stop();
      expect(names()).toHaveLength(3);
      expect(await started.agent.exited).toBe('it is left to the cluster');
      const deployment = { id: inputOf().spec.deploymentId, name: 'support-agent', namespace: 'team-a' };
      await compute.remove(deployment);
      await compute.remove(deployment);
      expect(names()).toEqual([]);
    }));

  const gone = { id: inputOf().spec.deploymentId, name: 'support-agent', namespace: 'team-a' };

  test('is removed when its last pod has ended, not before', () =>
    withCluster(async ({ api, compute, start }) => {
      await start();
      api.controller.slowEnd = 4;
      await compute.remove(gone);
      expect(api.state.list('pods', 'team-a')).toEqual([]);
      expect(api.seen.filter(({ path }) => path.endsWith('/pods'))).not.toEqual([]);
    }));

  test('is not removed while a pod does not end, and says which', () =>
    withCluster(
      async ({ api, compute, start }) => {
        await start();
        api.controller.slowEnd = 100_000;
        const why = /^After 50 s these objects still exist: Pod support-agent-0c0ffee0-\w+-0\.$/;
        await expect(compute.remove(gone)).rejects.toThrow(why);
      },
      { goneWithinMs: 50_000 },
    ));

  test('reports fields of its ResourceSpec that have no effect', () =>
    withCluster(async ({ start, logged }) => {
      await start({ resourceSpec: { executor_cpu: 1 } });
      expect(logged).toContain('warning resource_spec.executor_cpu has no effect.');
    }));
});

describe('a lost lease', () => {
  const changing = (api: ApiServer) =>
    api.seen.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
  const newest = (api: ApiServer) =>
    at(api.find('deployments', 'team-a', base), 'spec.template.metadata.annotations.landfall/revision-id');

  test('ends the rollback too: the rollout of the next holder stays', () =>
    withCluster(async ({ api, start }) => {
      await start({ resourceSpec: { max_scale: 4 } });
      api.controller.outcomes.set('', 'stands still');
      const [breakOff, lost] = [new AbortController(), new AbortController()];
      const hold = { lost: lost.signal, check: () => lost.signal.throwIfAborted() };
      const resourceSpec = { max_scale: 5, queue_cpu: 1 };
      const starting = start({ revisionId: second, resourceSpec }, breakOff.signal, hold);
      const scaler = () => at(api.find('horizontalpodautoscalers', 'team-a', base), 'spec.maxReplicas');
      // All of it is applied, and followed: else the rollout itself would get the faults.
      const isFollowed = () => api.seen.slice(-6).every(({ method }) => method === 'GET');
      await expect.poll(() => scaler() === 5 && isFollowed()).toBe(true);
      // The first request of the rollback hangs when the lease ends.
      for (const method of ['PATCH', 'DELETE']) api.faults.push({ method, times: 1, how: { kind: 'silent' } });
      breakOff.abort();
      await expect.poll(() => api.faults.some(({ times }) => times === 0)).toBe(true);
      const before = changing(api).length;
      lost.abort(new ClaimLost('its lease ran out'));
      expect(reasonOf(await starting)).toBe('The lease was lost: its lease ran out');
      expect(changing(api).slice(before)).toEqual([]);
      expect(newest(api)).toBe(second);
      expect(scaler()).toBe(5);
    }));

  /** A lease of a stopped process: its time is over at once and its timers never fire. */
  function leaseOver(isOver: () => boolean) {
    const never = new Promise<never>(() => undefined);
    const clock = { now: () => (isOver() ? 10_000 : 0), sleep: () => never };
    return keepLease({ leaseMs: 10_000, clock, renew: () => never }, 0);
  }

  test('stops a suspended process from applying anything, including requests under way', () =>
    withCluster(
      async ({ api, start }) => {
        const hangs: Fault = { method: 'PATCH', path: '/deployments/', times: 1, how: { kind: 'silent' } };
        api.faults.push(hangs);
        const lease = leaseOver(() => hangs.times === 0);
        expect(reasonOf(await start({}, lease.signal, lease))).toBe(
          'The lease was lost: its time ran out before it was renewed.',
        );
        expect(changing(api).filter((seen) => seen.includes('/deployments/'))).toHaveLength(1);
        expect(lease.lost.aborted).toBe(true);
      },
      { answerWithinMs: 50_000 },
    ));

  test('stops a suspended process from removing anything', () =>
    withCluster(async ({ api, compute, start, names }) => {
      await start();
      const deployment = { id: inputOf().spec.deploymentId, name: 'support-agent', namespace: 'team-a' };
      await expect(
        compute.remove(
          deployment,
          leaseOver(() => true),
        ),
      ).rejects.toBeInstanceOf(ClaimLost);
      expect(names()).toHaveLength(3);
      expect(changing(api).every((seen) => seen.startsWith('PATCH'))).toBe(true);
    }));
});

describe('a rollout that fails', () => {
  const displayed = 'Its last line: TypeError: the model has no name';
  test.each<[string, Fate, string[]]>([
    [
      'because the image can’t be pulled',
      'image missing',
      ['ImagePullBackOff', 'Back-off pulling image', 'Cluster event: Failed: Failed to pull image', 'not found.'],
    ],
    [
      'because a volume can’t be mounted, which only an event reports',
      'mount fails',
      ['did not end within 30 s', 'Cluster event: FailedMount: MountVolume.SetUp failed', '"models" not found.'],
    ],
    [
      'because the agent never becomes healthy',
      'unhealthy',
      ['did not end within 30 s', 'Cluster event: Unhealthy: Startup probe failed'],
    ],
    [
      'because the agent crashes, with its last output',
      'crashes',
      ['container agent ended with exit code 1, 4 times so far', displayed],
    ],
    [
      'because an init container crashes, with its last output',
      'init crashes',
      ['container fetch ended with exit code 1', displayed],
    ],
    [
      'because the namespace has no room',
      'quota',
      ['No pod can be created', 'exceeded quota: compute, requested: cpu=2'],
    ],
    [
      'because no node takes its pods',
      'unplaced',
      ['did not end within 30 s', 'no node can take it', 'Insufficient cpu'],
    ],
    ['because the cluster gave up on it', 'given up', ['the cluster made no progress', 'timed out progressing']],
    ['because it makes no progress', 'stands still', ['did not end within 30 s', '0 of 1 replicas are available']],
  ])('%s', (_, fate, words) =>
    withCluster(
      async ({ api, start, names }) => {
        api.controller.outcomes.set('', fate);
        const resourceSpec = { init_containers: [{ name: 'fetch', image: 'fetch:1' }] };
        const reason = reasonOf(await start({ resourceSpec }));
        for (const word of words) expect(reason).toContain(word);
        expect(names()).toEqual([]);
      },
      { rolloutWithinMs: 30_000 },
    ),
  );

  test.each([
    ['a secret that is not in the cluster', 'keys', 'secret "keys" not found'],
    ['a key that is not in its secret', 'models', "couldn't find key second in Secret team-a/models"],
  ])('because it refers to %s', (_, secret_name, words) =>
    withCluster(async ({ api, start }) => {
      api.state.put({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'models', namespace: 'team-a' },
        data: { first: 'eA==' },
      });
      const secretReferences = [{ name: 'MODEL_KEY', secret_name, secret_key: 'second' }];
      const reason = reasonOf(await start({ secretReferences }));
      expect(reason).toContain(`container agent can't start, CreateContainerConfigError: ${words}`);
    }),
  );

  test('leaves out repeated events and those from before the container ran', () =>
    withCluster(
      async ({ api, start }) => {
        for (const fate of ['crashes', 'unplaced'] as const) {
          api.controller.outcomes.set('', fate);
          expect(reasonOf(await start())).not.toContain('Cluster event');
        }
      },
      { rolloutWithinMs: 30_000 },
    ));

  test('writes cluster events to the log', () =>
    withCluster(async ({ api, start, logged }) => {
      api.controller.outcomes.set('', 'image missing');
      await start();
      expect(logged.join('\n')).toMatch(
        /warning Pod support-agent-0c0ffee0-\w+-0: Failed: Failed to pull image .*not found/,
      );
    }));

  test('because the cache does not start never starts an agent', () =>
    withCluster(async ({ api, start }) => {
      api.controller.outcomes.set('-cache', 'image missing');
      expect(reasonOf(await start({ resourceSpec: { cache_cpu: 1 } }))).toContain(`${base}-cache`);
      expect(api.seen.some(({ method, path }) => method === 'PATCH' && path.endsWith(`deployments/${base}`))).toBe(
        false,
      );
    }));

  test('restores the pods, scale and environment of the former revision', () =>
    withCluster(async ({ api, start, names }) => {
      await start({ resourceSpec: { max_scale: 4, labels: { team: 'one' } } });
      const before = api.find('deployments', 'team-a', base);
      api.controller.outcomes.set('', 'crashes');
      const reason = reasonOf(
        await start({ revisionId: second, resourceSpec: { labels: { team: 'two' }, queue_cpu: 1 } }),
      );
      expect(reason).toContain('The rollout failed');
      const after = api.find('deployments', 'team-a', base);
      expect(at(after, 'spec')).toEqual(at(before, 'spec'));
      expect(after?.metadata.labels).toEqual(before?.metadata.labels);
      expect(names()).toEqual([`${env}1`, 'Service *', 'Deployment *', 'HorizontalPodAutoscaler *']);
    }));

  test('restores the former revision when it is interrupted, too', () =>
    withCluster(async ({ api, start }) => {
      await start();
      api.controller.outcomes.set('', 'stands still');
      const breakOff = new AbortController();
      const starting = start({ revisionId: second }, breakOff.signal);
      await expect.poll(() => at(api.find('deployments', 'team-a', base), 'metadata.generation')).toBe(2);
      breakOff.abort();
      expect(reasonOf(await starting)).toBe('The start was aborted.');
      expect(
        at(api.find('deployments', 'team-a', base), 'spec.template.metadata.annotations.landfall/revision-id'),
      ).toBe(first);
    }));

  test('never shows a secret in its reason or in the log', () =>
    withCluster(async ({ api, start, logged }) => {
      api.controller.outcomes.set('', 'crashes');
      api.controller.lastWords = 'Error: the key not-for-your-eyes and pass-of-the-database were refused\n';
      const reason = reasonOf(await start({ secrets: [{ name: 'API_KEY', value: 'not-for-your-eyes' }] }));
      expect(reason).toContain('Its last line: Error: the key *** and *** were refused');
      const reported = [reason, ...logged].join('\n');
      for (const secret of ['not-for-your-eyes', 'pass-of-the-database', api.token])
        expect(reported).not.toContain(secret);
    }));

  test('says that it may not read the log, and still says what is wrong', () =>
    withCluster(async ({ api, start, logged }) => {
      api.controller.outcomes.set('', 'crashes');
      api.forbidden.add('get pods/log');
      expect(reasonOf(await start())).toContain('ended with exit code 1');
      expect(logged.join('\n')).toContain('The cluster did not let us read the log of pod');
    }));
});

describe('prerequisites', () => {
  test.each([
    [
      'a missing namespace',
      { namespace: 'team-b' },
      'The cluster has no namespace team-b. Make it, or name another one',
    ],
    [
      'a missing service account',
      { resourceSpec: { service_account_name: 'agents' } },
      'The service account agents is not in the namespace team-a.',
    ],
  ])('%s is reported before anything is created', (_, spec, words) =>
    withCluster(async ({ api, start }) => {
      expect(reasonOf(await start(spec))).toContain(words);
      expect(api.seen.some(({ method }) => method !== 'GET')).toBe(false);
    }),
  );

  test('uses an existing service account, and assumes an unreadable namespace exists', () =>
    withCluster(async ({ api, start }) => {
      api.state.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'agents', namespace: 'team-a' } });
      api.forbidden.add('get namespaces');
      expect((await start({ resourceSpec: { service_account_name: 'agents' } })).kind).toBe('running');
    }));

  test('rejects a build', () =>
    withCluster(async ({ start }) => {
      const program = {
        kind: 'build',
        sourceText: 'commit 1',
        folder: '/b',
        graphConfigFile: '/b/g.json',
        homeFolder: '/h',
      } as const;
      expect(reasonOf(await start({ program }))).toBe(
        'A cluster runs container images, which a build is not. Use the source external_docker, or a deployment without a listener.',
      );
    }));
});

describe('a cluster that fails', () => {
  const status = (code: number, reason: string, message: string) =>
    ({ kind: 'status', code, reason, message }) as const;
  test.each([
    ['returns a 500', { times: 2, how: status(500, 'InternalError', 'etcdserver: leader changed') }],
    [
      'is busy and sends Retry-After',
      { times: 2, how: { ...status(429, 'TooManyRequests', 'slow down'), retryAfter: 3 } },
    ],
    ['returns an error page of a proxy', { times: 2, how: { kind: 'page', code: 502 } }],
    ['resets the connection', { times: 2, how: { kind: 'reset' } }],
    [
      'reports a write conflict',
      { method: 'PATCH', times: 1, how: status(409, 'Conflict', 'the object has been modified') },
    ],
  ] as const)('and %s is retried', (_, fault) =>
    withCluster(async ({ api, start }) => {
      api.faults.push({ ...fault });
      expect((await start()).kind).toBe('running');
    }),
  );

  test('and does not respond in time is retried', () =>
    withCluster(
      async ({ api, start }) => {
        api.faults.push({ times: 1, how: { kind: 'silent' } });
        expect((await start()).kind).toBe('running');
      },
      { answerWithinMs: 60_000 },
    ));

  test('and does not respond during a rollout is waited for', () =>
    withCluster(async ({ api, start, logged }) => {
      api.faults.push({ method: 'GET', path: `deployments/${base}`, times: 8, how: { kind: 'page', code: 503 } });
      expect((await start()).kind).toBe('running');
      expect(logged.join('\n')).toContain('The cluster does not answer');
    }));

  test.each([
    [
      'keeps failing',
      { times: 99, how: status(500, 'InternalError', 'etcd is away') },
      'could not read namespace team-a (it answered 500): etcd is away',
    ],
    [
      'rejects the credentials',
      { times: 99, how: status(401, 'Unauthorized', 'Unauthorized') },
      'did not accept the credentials',
    ],
    [
      'rejects the request',
      { method: 'PATCH', times: 99, how: status(422, 'Invalid', 'spec.replicas: too many') },
      'spec.replicas: too many. Change source_config.resource_spec.',
    ],
    [
      'has no capacity',
      {
        method: 'PATCH',
        times: 99,
        how: status(403, 'Forbidden', 'secrets "x" is forbidden: exceeded quota: objects'),
      },
      'has no room',
    ],
  ] as const)('and %s ends the start with a clear reason', (_, fault, words) =>
    withCluster(async ({ api, start }) => {
      api.faults.push({ ...fault });
      expect(reasonOf(await start())).toContain(words);
    }),
  );

  test('and denies a permission names that permission', () =>
    withCluster(async ({ api, start }) => {
      api.forbidden.add('list horizontalpodautoscalers');
      expect(reasonOf(await start())).toContain(
        'cannot list resource "horizontalpodautoscalers". Give this account a role there',
      );
    }));

  test('and has an object of another owner under our name leaves it unchanged', () =>
    withCluster(async ({ api, start }) => {
      const metadata = { name: base, namespace: 'team-a', labels: { 'app.kubernetes.io/managed-by': 'helm' } };
      api.state.apply(
        'services',
        { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 1, protocol: 'TCP' }] } },
        'helm',
        false,
        true,
      );
      expect(reasonOf(await start())).toContain(
        'something else holds it: Apply failed with 1 conflicts: conflicts with "helm"',
      );
      expect(at(api.find('services', 'team-a', base), 'spec.ports.0.port')).toBe(1);
    }));

  test('and has a wrong address is not reported as a missing namespace', () =>
    withCluster(async ({ api, start }) => {
      api.faults.push({ times: 99, how: { kind: 'page', code: 404 } });
      expect(reasonOf(await start())).toContain('The cluster knows nothing of what it takes to read namespace team-a');
    }));

  test('and has no such context is reported', () =>
    withCluster(
      async ({ start }) => expect(reasonOf(await start())).toContain('which has no context staging with a cluster'),
      { context: 'staging' },
    ));

  test('and has no readable kubeconfig is reported', async () => {
    const logged: string[] = [];
    const compute = kubernetesCompute({ clock: hurried(500), kubeconfig: '/nowhere/config' });
    expect(reasonOf(await compute.start(specOf({}, logged), new AbortController().signal))).toBe(
      'The kubeconfig could not be read (/nowhere/config): ENOENT.',
    );
  });
});
