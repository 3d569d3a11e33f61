/** Simulates the controllers and kubelets: moves Deployments and StatefulSets one step forward per read. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ClusterState, Stored } from './cluster-state.ts';

/** How a rollout ends. */
export type Fate =
  | 'available'
  | 'image missing'
  | 'mount fails'
  | 'unhealthy'
  | 'crashes'
  | 'init crashes'
  | 'quota'
  | 'unplaced'
  | 'given up'
  | 'stands still';

/** The cluster's controllers. */
export interface Controller {
  /** The fate of each workload by its name's end: `-db`, `-cache`, `-queue`, or `` for all others. */
  outcomes: Map<string, Fate>;
  /** Lists of pods, until those of a workload that was deleted have ended. */
  slowEnd: number;
  /** The output of a container that crashed. */
  lastWords: string;
  /** Moves a workload one step forward; called before each read. */
  advance(object: Stored): void;
  /** The variables of a pod's container, as it sees them. */
  environment(namespace: string, pod: string, container: string): Record<string, string>;
  /** The output of a container. */
  log(pod: string, container: string): string | undefined;
}

const template = z.looseObject({
  metadata: z.looseObject({
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.looseObject({
    containers: z.array(z.looseObject({ name: z.string(), image: z.string() })),
    initContainers: z.array(z.looseObject({ name: z.string(), image: z.string() })).default([]),
  }),
});
const variable = z.looseObject({
  name: z.string(),
  value: z.string().default(''),
  valueFrom: z
    .looseObject({ secretKeyRef: z.looseObject({ name: z.string(), key: z.string() }).optional() })
    .optional(),
});
const withVariables = z.looseObject({ name: z.string(), env: z.array(variable).default([]) });
const podContainers = z.looseObject({ containers: z.array(withVariables) });
const secretData = z.looseObject({ data: z.record(z.string(), z.string()).default({}) });
const workload = z.looseObject({ replicas: z.number().default(1), template });

const image = 'registry.example.com/agent@sha256:0';
const statusOf = (name: string, more: object): object => ({
  name,
  image,
  imageID: '',
  ready: false,
  restartCount: 0,
  ...more,
});

/** The container statuses of a pod, by its fate. */
const containerStates: Partial<Record<Fate, { restartCount?: number; state: object; lastState?: object }>> = {
  'image missing': {
    state: {
      waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling image "registry.example.com/agent:1"' },
    },
  },
  crashes: {
    restartCount: 3,
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error' } },
  },
  'stands still': { state: { waiting: { reason: 'ContainerCreating' } } },
  'mount fails': { state: { waiting: { reason: 'ContainerCreating' } } },
  unhealthy: { state: { running: {} } },
};

/** In the order in which a kubelet records them. */
const warnings: Partial<Record<Fate, { reason: string; message: string }[]>> = {
  'image missing': [
    { reason: 'Failed', message: 'Failed to pull image "registry.example.com/agent:1": not found' },
    { reason: 'Failed', message: 'Error: ErrImagePull' },
    { reason: 'BackOff', message: 'Back-off pulling image "registry.example.com/agent:1"' },
    { reason: 'Failed', message: 'Error: ImagePullBackOff' },
  ],
  'mount fails': [
    {
      reason: 'FailedMount',
      message: 'MountVolume.SetUp failed for volume "models" : configmap "models" not found',
    },
  ],
  unhealthy: [
    { reason: 'FailedScheduling', message: '0/3 nodes are available: 3 Insufficient cpu.' },
    { reason: 'Unhealthy', message: 'Startup probe failed: HTTP probe failed with statuscode: 503' },
    { reason: 'BackOff', message: 'Back-off restarting failed container agent' },
  ],
  crashes: [
    { reason: 'FailedScheduling', message: '0/3 nodes are available: 3 Insufficient cpu.' },
    { reason: 'BackOff', message: 'Back-off restarting failed container agent' },
  ],
};

/** The controllers of a cluster. Every workload becomes available unless a fate says otherwise. */
export function controller(state: ClusterState): Controller {
  const steps = new Map<string, number>();
  const crashed = new Set<string>();
  const self: Controller = {
    outcomes: new Map(),
    slowEnd: 0,
    lastWords: 'TypeError: the model has no name\n    at main (agent.js:1:1)\n',
    advance(object) {
      const key = `${String(object.metadata['uid'])}/${object.metadata.generation}`;
      const step = (steps.get(key) ?? 0) + 1;
      steps.set(key, step);
      if (step === 2) begin(object);
      if (step === 3) end(object);
    },
    environment(namespace, pod, container) {
      const { containers } = podContainers.parse(state.get('pods', namespace, pod).spec);
      const { env = [] } = containers.find(({ name }) => name === container) ?? {};
      const missing = missingSecret(namespace, containers);
      if (missing !== undefined) throw new Error(missing);
      return Object.fromEntries(env.map((one) => [one.name, valueOf(namespace, one) ?? '']));
    },
    log: (pod, container) => (crashed.has(`${pod}/${container}`) ? self.lastWords : undefined),
  };

  const fateOf = (name: string): Fate => {
    const [, ending = ''] = /(-db|-cache|-queue)$/.exec(name) ?? [];
    return self.outcomes.get(ending) ?? 'available';
  };

  /** The value of a variable; undefined if its source does not exist. */
  function valueOf(namespace: string, { value, valueFrom }: z.infer<typeof variable>): string | undefined {
    const from = valueFrom?.secretKeyRef;
    if (!from) return value;
    const secret = state.list('secrets', namespace).find(({ metadata }) => metadata.name === from.name);
    const inBase64 = secret && secretData.parse(secret).data[from.key];
    return inBase64 === undefined ? undefined : Buffer.from(inBase64, 'base64').toString();
  }

  /** Why a kubelet can't create containers: a secret or one of its keys is missing. */
  function missingSecret(namespace: string, containers: z.infer<typeof withVariables>[]): string | undefined {
    for (const one of containers.flatMap(({ env }) => env)) {
      if (valueOf(namespace, one) !== undefined) continue;
      const { name = '', key = '' } = one.valueFrom?.secretKeyRef ?? {};
      const isThere = state.list('secrets', namespace).some(({ metadata }) => metadata.name === name);
      return isThere ? `couldn't find key ${key} in Secret ${namespace}/${name}` : `secret "${name}" not found`;
    }
    return undefined;
  }

  function podsOf({ metadata }: Stored): Stored[] {
    return state.list('pods', metadata.namespace).filter((pod) => pod.metadata['generateName'] === `${metadata.name}-`);
  }

  function begin(object: Stored): void {
    const { replicas, template } = workload.parse(object.spec);
    const fate = fateOf(object.metadata.name);
    const hash = createHash('sha1').update(JSON.stringify(template)).digest('hex').slice(0, 10);
    const count = fate === 'quota' ? 0 : replicas;
    for (let index = 0; index < count; index += 1) {
      const name = `${object.metadata.name}-${hash}-${index}`;
      if (podsOf(object).some((pod) => pod.metadata.name === name)) continue;
      state.put({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name,
          namespace: object.metadata.namespace,
          generateName: `${object.metadata.name}-`,
          labels: { ...template.metadata.labels, 'pod-template-hash': hash },
          annotations: template.metadata.annotations,
        },
        spec: template.spec,
        status: podStatus(fate, template, name),
      });
      for (const warning of warnings[fate] ?? []) report(object, name, warning);
    }
    describe(object, { replicas: podsOf(object).length, updatedReplicas: count, availableReplicas: 0 }, fate);
  }

  function end(object: Stored): void {
    const { replicas, template } = workload.parse(object.spec);
    const fate = fateOf(object.metadata.name);
    const { containers } = podContainers.parse(template.spec);
    const missing = missingSecret(object.metadata.namespace ?? '', containers);
    if (fate !== 'available') return describe(object, object.status ?? {}, fate);
    if (missing !== undefined) {
      const waits = { waiting: { reason: 'CreateContainerConfigError', message: missing } };
      const containerStatuses = containers.map(({ name }) => statusOf(name, { state: waits }));
      for (const pod of podsOf(object)) state.put({ ...pod, status: { phase: 'Pending', containerStatuses } });
      return;
    }
    const hash = createHash('sha1').update(JSON.stringify(template)).digest('hex').slice(0, 10);
    for (const pod of podsOf(object)) {
      const index = Number(pod.metadata.name.split('-').at(-1));
      const isOurs = pod.metadata.labels['pod-template-hash'] === hash && index < replicas;
      if (!isOurs) state.remove('pods', pod.metadata.namespace, pod.metadata.name);
      else state.put({ ...pod, status: podStatus('available', template, pod.metadata.name, true) });
    }
    describe(
      object,
      { replicas, updatedReplicas: replicas, availableReplicas: replicas, readyReplicas: replicas },
      fate,
    );
  }

  function podStatus(fate: Fate, { spec }: z.infer<typeof template>, pod: string, ready = false): object {
    if (fate === 'unplaced') {
      const message = '0/3 nodes are available: 3 Insufficient cpu.';
      return {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
      };
    }
    const isInit = fate === 'init crashes';
    const bad = containerStates[isInit ? 'crashes' : fate];
    const fine = { ready, state: ready ? { running: {} } : { waiting: { reason: 'PodInitializing' } } };
    const done = { ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } };
    const faulty = isInit ? spec.initContainers[0]?.name : spec.containers[0]?.name;
    const stands = (name: string, otherwise: object) => statusOf(name, name === faulty && bad ? bad : otherwise);
    if (bad?.lastState && faulty !== undefined) crashed.add(`${pod}/${faulty}`);
    return {
      phase: ready ? 'Running' : 'Pending',
      initContainerStatuses: spec.initContainers.map(({ name }) => stands(name, done)),
      containerStatuses: spec.containers.map(({ name }) => stands(name, fine)),
    };
  }

  function report(object: Stored, pod: string, { reason, message }: { reason: string; message: string }): void {
    state.put({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${pod}.${state.version()}`, namespace: object.metadata.namespace },
      involvedObject: { kind: 'Pod', name: pod, namespace: object.metadata.namespace },
      type: 'Warning',
      reason,
      message,
    });
  }

  function describe(object: Stored, counts: object, fate: Fate): void {
    const conditions: object[] = [];
    if (fate === 'quota') {
      const message =
        'pods "agent-1" is forbidden: exceeded quota: compute, requested: cpu=2, used: cpu=9, limited: cpu=10';
      conditions.push({ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message });
    }
    if (fate === 'given up') {
      const message = 'ReplicaSet "agent-1" has timed out progressing.';
      conditions.push({ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message });
    }
    const live = state.get(
      object.kind === 'StatefulSet' ? 'statefulsets' : 'deployments',
      object.metadata.namespace,
      object.metadata.name,
    );
    state.put({ ...live, status: { ...counts, observedGeneration: live.metadata.generation, conditions } });
  }

  return self;
}
