import { resolvedResources, type ResolvedReplicas } from '../deployments/validation/resolved-resources.ts';
import { cacheParts, databaseParts } from './dependencies.ts';
import { agentPort, environmentOf, environmentSecret } from './environment.ts';
import { metaOf, podMetaOf, podSpecOf, untilDeadline, type ManifestInput, type Plan } from './input.ts';
import { baseName, head, kindsOfParts, labelKeys, selectorOf, withoutNulls, type Manifest } from './manifest.ts';
import { resourcesOf } from './quantities.ts';
import type { Container, EnvVar } from '../../../contract/control/container.ts';

/**
 * Turns a revision of a deployment and its ResourceSpec into the objects of a cluster
 * (docs/design/contract.md#resources). `ignored` names the requested fields without effect, including those marked "do
 * not use".
 */
export function kubernetesManifests(input: ManifestInput): { manifests: Manifest[]; ignored: string[] } {
  const { spec } = input;
  const resources = resolvedResources(spec.resourceSpec);
  const plan: Plan = {
    ...input,
    base: baseName({ name: spec.name, id: spec.deploymentId }),
    resources,
    ownDatabase: resources.hasDatabase || spec.databaseUrl === '',
  };
  const manifests = [
    environmentSecret(plan),
    agentService(plan),
    ...(plan.ownDatabase ? databaseParts(plan) : []),
    ...(resources.hasCache ? cacheParts(plan) : []),
    ...workload(plan, 'agent'),
    ...(resources.hasQueue ? workload(plan, 'queue') : []),
  ];
  manifests.sort((one, other) => kindsOfParts.indexOf(one.kind) - kindsOfParts.indexOf(other.kind));
  return { manifests, ignored: [...resources.ignored, ...ignoredContainers(plan)] };
}

/** Seconds that a pod still serves after SIGTERM, until its removal from the endpoints has reached every node. */
const terminationSeconds = 5;
/** Seconds beyond the agent's own drain, until it is killed. */
const lastStepsSeconds = 10;
/** The autoscaler's target, in percent of the requested CPU. */
const busyPercent = 75;
const busyCores = '500m';

interface Scale {
  min: number;
  max: number;
}

/**
 * docs/design/contract.md#resources: one replica by default. `max_scale` 0 switches a part off; a `min_scale` of 0
 * alone leaves one, since nothing here could start a deployment on demand.
 */
function scaleOf({ minScale, maxScale }: ResolvedReplicas): Scale {
  if (maxScale === 0) return { min: 0, max: 0 };
  const min = Math.max(1, minScale ?? 1);
  return { min, max: maxScale ?? min };
}

type Workload = 'agent' | 'queue';

/** The Deployment of a part, and its HorizontalPodAutoscaler where it can scale. */
function workload(plan: Plan, part: Workload): Manifest[] {
  const scale = scaleOf(plan.resources[part]);
  const metadata = metaOf(plan, part);
  const deployment: Manifest = {
    ...head('Deployment'),
    metadata,
    spec: {
      // Always set: the cluster resets a field that the next revision no longer applies, to 1.
      replicas: Math.max(scale.min, Math.min(scale.max, plan.running[part] ?? scale.min)),
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: plan.settings.progressDeadlineSeconds,
      selector: { matchLabels: selectorOf(plan.base, part) },
      // Never fewer than requested, also during a rollout.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      template: podTemplate(plan, part),
    },
  };
  return scale.max > scale.min ? [deployment, scaler(plan, part, scale)] : [deployment];
}

/** `sidecars` and the like that have no effect, as paths (docs/design/contract.md#containers). */
const ignoredContainers = (plan: Plan): string[] => placed(plan).ignored;

/** The Service of the agents within the cluster. */
function agentService(plan: Plan): Manifest {
  return {
    ...head('Service'),
    metadata: metaOf(plan, 'agent'),
    spec: {
      type: 'ClusterIP',
      selector: selectorOf(plan.base, 'agent'),
      ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    },
  };
}

/** The main container's name, unless a sidecar already has it. */
function mainName({ spec }: Plan): string {
  const taken = [...(spec.resourceSpec?.init_containers ?? []), ...(spec.resourceSpec?.sidecars ?? [])];
  return taken.some(({ name }) => name === 'agent') ? 'landfall-agent' : 'agent';
}

function podTemplate(plan: Plan, part: Workload): Record<string, unknown> {
  const { spec, settings } = plan;
  const requested = spec.resourceSpec;
  const { labels, annotations } = podMetaOf(plan, part);
  const { initContainers, containers } = placed(plan);
  return {
    metadata: {
      labels: { ...labels, [labelKeys.revision]: spec.revisionId },
      // Forces new pods for a revision that is otherwise equal to the previous one.
      annotations: { ...annotations, [labelKeys.revision]: spec.revisionId },
    },
    spec: {
      ...podSpecOf(plan),
      ...(requested?.service_account_name
        ? { serviceAccountName: requested.service_account_name }
        : { automountServiceAccountToken: false }),
      terminationGracePeriodSeconds: terminationSeconds + Math.ceil(settings.drainMs / 1_000) + lastStepsSeconds,
      ...(initContainers.length > 0 ? { initContainers } : {}),
      containers: [mainContainer(plan, part), ...containers],
      ...(requested?.volumes?.length ? { volumes: requested.volumes.map(withoutNulls) } : {}),
    },
  };
}

function mainContainer(plan: Plan, part: Workload): Record<string, unknown> {
  const mounts = plan.spec.resourceSpec?.volume_mounts ?? [];
  const health = { httpGet: { path: '/ok', port: 'http' }, timeoutSeconds: 5 };
  return {
    name: mainName(plan),
    image: plan.imageUri,
    // A tag may have moved since a node pulled it; a digest is constant.
    imagePullPolicy: plan.imageUri.includes('@sha256:') ? 'IfNotPresent' : 'Always',
    ports: [{ name: 'http', containerPort: agentPort, protocol: 'TCP' }],
    env: environmentOf(plan),
    ...resourcesOf(plan.resources[part]),
    ...(mounts.length > 0 ? { volumeMounts: mounts.map(withoutNulls) } : {}),
    securityContext: { allowPrivilegeEscalation: false },
    readinessProbe: { ...health, periodSeconds: 2, failureThreshold: 3 },
    // Slow responses count as alive.
    livenessProbe: { ...health, periodSeconds: 10, failureThreshold: 6 },
    startupProbe: { ...health, ...untilDeadline(plan) },
    lifecycle: { preStop: { sleep: { seconds: terminationSeconds } } },
  };
}

function scaler(plan: Plan, part: Workload, { min, max }: Scale): Manifest {
  const metadata = metaOf(plan, part);
  const { cpu, cpuLimit } = plan.resources[part];
  // A container with only a limit requests the same amount.
  const target =
    (cpu ?? cpuLimit)
      ? { type: 'Utilization', averageUtilization: busyPercent }
      : { type: 'AverageValue', averageValue: busyCores };
  return {
    ...head('HorizontalPodAutoscaler'),
    metadata,
    spec: {
      scaleTargetRef: { ...head('Deployment'), name: metadata.name },
      minReplicas: min,
      maxReplicas: max,
      // Of the main container only: a sidecar without a request would disable the metric of the whole pod.
      metrics: [{ type: 'ContainerResource', containerResource: { name: 'cpu', container: mainName(plan), target } }],
    },
  };
}

/** `value` is empty by default (docs/design/contract.md#containers). */
const variableOf = ({ name, value, valueFrom }: EnvVar): Record<string, unknown> =>
  valueFrom ? { name, valueFrom } : { name, value: value ?? '' };

/** A container without its restart policy, which decides its place in the pod (docs/design/contract.md#containers). */
function containerOf({ env, resources, volumeMounts, ...rest }: Container): Record<string, unknown> {
  return withoutNulls({
    ...rest,
    restartPolicy: undefined,
    env: env?.map(variableOf),
    resources: resources ? withoutNulls(resources) : undefined,
    volumeMounts: volumeMounts?.map(withoutNulls),
  });
}

/**
 * The places of a ResourceSpec's containers in a pod.
 *
 * Init containers run one after the other, each to its end, before anything else. A sidecar with `restartPolicy:
 * Always` is a native sidecar of Kubernetes: an init container that keeps running, from before the main one starts
 * until after it ends. Any other sidecar runs beside the main container and is always restarted, because the pods of a
 * Deployment know no other policy: `OnFailure` is reported as ignored.
 */
function placed({ spec }: Plan) {
  const all = spec.resourceSpec?.sidecars ?? [];
  const native = all.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const plain = all.filter(({ restartPolicy }) => restartPolicy !== 'Always');
  return {
    initContainers: [
      ...(spec.resourceSpec?.init_containers ?? []).map(containerOf),
      ...native.map((container) => ({ ...containerOf(container), restartPolicy: 'Always' })),
    ],
    containers: plain.map(containerOf),
    ignored: plain
      .filter(({ restartPolicy }) => restartPolicy === 'OnFailure')
      .map(({ name }) => `sidecars.${name}.restartPolicy`),
  };
}
