import * as z from 'zod';

const text = z.string().default('');
const count = z.number().default(0);
const condition = z.looseObject({ type: z.string(), status: z.string(), reason: text, message: text });
const workload = z.looseObject({
  metadata: z.looseObject({ generation: count }),
  spec: z.looseObject({ replicas: z.number().default(1) }),
  status: z
    .looseObject({
      observedGeneration: count,
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
      conditions: z.array(condition).default([]),
    })
    .prefault({}),
});

type RolloutState =
  | { kind: 'ready' }
  /** In progress; `stuck` is an obstacle that may pass by itself. */
  | { kind: 'progressing'; words: string; stuck?: string }
  | { kind: 'failed'; words: string };

/** The progress of a Deployment or a StatefulSet, from its status. */
export function rolloutState(object: unknown): RolloutState {
  const { metadata, spec, status } = workload.parse(object);
  if (status.observedGeneration < metadata.generation) {
    return { kind: 'progressing', words: 'the cluster has not observed it yet' };
  }
  const conditionOf = (type: string, value: string) =>
    status.conditions.find((one) => one.type === type && one.status === value);
  const progressing = conditionOf('Progressing', 'False');
  if (progressing?.reason === 'ProgressDeadlineExceeded') {
    return { kind: 'failed', words: `the cluster made no progress (${progressing.message || progressing.reason})` };
  }
  const words = `${Math.min(status.availableReplicas, status.updatedReplicas)} of ${spec.replicas} replicas are available`;
  const replicaFailure = conditionOf('ReplicaFailure', 'True');
  if (replicaFailure)
    return {
      kind: 'progressing',
      words,
      stuck: `no pod can be created: ${replicaFailure.message || replicaFailure.reason}`,
    };
  const isDone =
    status.updatedReplicas >= spec.replicas &&
    // The previous revision's pods are gone, and there are not more of ours than requested.
    status.replicas <= status.updatedReplicas &&
    status.availableReplicas >= status.updatedReplicas;
  return isDone ? { kind: 'ready' } : { kind: 'progressing', words };
}

const containerState = z.looseObject({
  waiting: z.looseObject({ reason: text, message: text }).optional(),
  running: z.looseObject({}).optional(),
  terminated: z.looseObject({ exitCode: z.number(), reason: text, message: text }).optional(),
});
const containerStatus = z.looseObject({
  name: z.string(),
  ready: z.boolean().default(false),
  restartCount: count,
  state: containerState.prefault({}),
  lastState: containerState.prefault({}),
});
const statuses = z.array(containerStatus).default([]);
const pod = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  status: z
    .looseObject({
      phase: text,
      reason: text,
      message: text,
      conditions: z.array(condition).default([]),
      initContainerStatuses: statuses,
      containerStatuses: statuses,
    })
    .prefault({}),
});

export interface PodProblem {
  pod: string;
  /** The container whose log explains the problem, and whether to read the log of its previous run. */
  log?: { container: string; previous: boolean };
  words: string;
  /** Whether waiting may fix it: a node may be added for an unschedulable pod. */
  isTransient: boolean;
}

/** The waiting reasons of a container that waiting does not fix, or too slowly. */
const stuckReasons = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** All problems of some pods, as the cluster describes them. */
export function podProblems(pods: readonly unknown[]): PodProblem[] {
  return pods.flatMap((reported): PodProblem[] => {
    const { metadata, status } = pod.parse(reported);
    const { name } = metadata;
    const unscheduled = status.conditions.find((one) => one.type === 'PodScheduled' && one.status === 'False');
    if (unscheduled) {
      return [
        { pod: name, words: `no node can take it: ${unscheduled.message || unscheduled.reason}`, isTransient: true },
      ];
    }
    if (status.phase === 'Failed' && status.reason) {
      return [{ pod: name, words: `it failed: ${status.reason} ${status.message}`.trim(), isTransient: false }];
    }
    return [...status.initContainerStatuses, ...status.containerStatuses].flatMap((container): PodProblem[] => {
      const words = containerProblem(container);
      const hasRunBefore = container.lastState.terminated !== undefined && !container.state.terminated;
      const hasRun = hasRunBefore || container.state.terminated !== undefined || container.state.running !== undefined;
      const log = hasRun ? { log: { container: container.name, previous: hasRunBefore } } : {};
      return words === undefined
        ? []
        : [{ pod: name, words: `container ${container.name} ${words}`, isTransient: false, ...log }];
    });
  });
}

function containerProblem(status: z.infer<typeof containerStatus>): string | undefined {
  const { ready, restartCount, state, lastState } = status;
  if (ready) return undefined;
  const last = state.terminated ?? lastState.terminated;
  const end =
    last && `ended with exit code ${last.exitCode}${last.reason && last.reason !== 'Error' ? ` (${last.reason})` : ''}`;
  const { waiting } = state;
  if (waiting && stuckReasons.has(waiting.reason)) {
    const detail = waiting.message ? `: ${waiting.message}` : '';
    if (waiting.reason !== 'CrashLoopBackOff' || !end) return `can't start, ${waiting.reason}${detail}`;
    return `${end}, ${restartCount + 1} times so far (CrashLoopBackOff)`;
  }
  // Between two crashes it runs or waits to restart, and is not healthy.
  return end && (last.exitCode !== 0 || restartCount > 0) ? end : undefined;
}
