import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { maskOf } from '../../../contract/masking/mask.ts';
import { ServiceError } from '../../../contract/service-error.ts';
import { passwordKey } from '../kubernetes/dependencies.ts';
import { specSecrets } from './agent-environment.ts';
import type { FormerVolume, PartSettings } from '../kubernetes/input.ts';
import { kubernetesManifests } from '../kubernetes/manifests.ts';
import { baseName, partName, type Kind, type Part } from '../kubernetes/manifest.ts';
import {
  ClaimLost,
  type AgentSpec,
  type AgentStart,
  type Compute,
  type RunningAgent,
  type WorkLease,
} from './compute.ts';
import { prune, undoRollOut, removeAll, rollOut, type AppliedChanges } from './kubernetes-changes.ts';
import { connect, type ClusterDependencies, type Connected, type Connection } from './kubernetes-connection.ts';
import { objectsIn, type Objects, type OwnObject } from './kubernetes-objects.ts';
import { clusterProblem, missingNamespace, missingServiceAccount, wrongPullSecret } from './kubernetes-messages.ts';

export interface KubernetesComputeDependencies extends ClusterDependencies {
  /** The default namespace of deployments; the context's when absent, else `default`. */
  namespace?: string | undefined;
  rolloutWithinMs?: number;
  /** How long a pod may stay in an error that waiting does not fix (ms). */
  failureGraceMs?: number;
  /** The timeout of a removal, pods included (ms). */
  goneWithinMs?: number;
  privateWebhooks?: boolean | undefined;
  cacheImage?: string | undefined;
  databaseImage?: string | undefined;
  storageClass?: string | undefined;
}

/** A compute that can also remove a deployment's objects from the cluster. */
export type KubernetesCompute = Required<Compute>;

/**
 * Runs deployments as objects of a Kubernetes cluster (1.30 or newer), by server-side apply. The cluster probes and
 * replaces agents itself, so stopping an agent does nothing; `remove` ends a deployment. A failed start restores the
 * state before it, unless the lease was lost (`ClaimLost`): then nothing more is applied or removed.
 */
export function kubernetesCompute(settings: KubernetesComputeDependencies): KubernetesCompute {
  const { rolloutWithinMs = 600_000, failureGraceMs = 30_000, goneWithinMs = 120_000, clock } = settings;
  const partSettings: PartSettings = {
    cacheImage: settings.cacheImage ?? 'redis:7',
    databaseImage: settings.databaseImage ?? 'postgres:17',
    storageClass: settings.storageClass,
    progressDeadlineSeconds: Math.ceil(rolloutWithinMs / 1_000),
    drainMs: 30_000,
    privateWebhooks: settings.privateWebhooks ?? false,
  };
  const timeouts = { clock, withinMs: rolloutWithinMs, failureGraceMs };
  let connecting: ReturnType<typeof connect> | undefined;
  /** Connects once; after a failure again at the next call, because the kubeconfig may exist by then. */
  const connectOnce = async (): Promise<Connected> => {
    const connected = await (connecting ??= connect(settings));
    if (connected.kind === 'none') connecting = undefined;
    return connected;
  };

  const namespaceOf = (requested: string | undefined, connection: Connection): string =>
    requested ?? settings.namespace ?? connection.namespace;

  return {
    async start(spec, signal, hold): Promise<AgentStart> {
      try {
        return await startUnderLease(spec, signal, hold);
      } catch (error) {
        if (!(error instanceof ClaimLost)) throw error;
        return failed(`The lease was lost: ${error.message}`);
      }
    },
    async remove({ id, namespace }, hold) {
      const connected = await connectOnce();
      if (connected.kind === 'none') throw new Error(connected.reason);
      const { connection } = connected;
      const objects = objectsIn(connection, namespaceOf(namespace, connection), hold?.lost, hold?.check);
      await removeAll(id, objects, { clock, withinMs: goneWithinMs }, hold);
    },
  };

  async function startUnderLease(
    spec: AgentSpec,
    signal: AbortSignal,
    hold: WorkLease | undefined,
  ): Promise<AgentStart> {
    if (spec.program.kind !== 'image') return failed(buildsUnsupported);
    const connected = await connectOnce();
    if (connected.kind === 'none') return failed(connected.reason);
    const { connection } = connected;
    const namespace = namespaceOf(spec.namespace, connection);
    const check = hold?.check;
    const objects = objectsIn(connection, namespace, signal, check);
    let mask = maskOf(specSecrets(spec));
    const changes: AppliedChanges = { applied: [], formerObjects: [] };
    const undoAndFail = async (reason: string): Promise<AgentStart> => {
      if (signal.reason instanceof ClaimLost) throw signal.reason;
      await undoRollOut(changes, objectsIn(connection, namespace, hold?.lost, check), spec, mask, hold);
      return failed(signal.aborted ? 'The start was aborted.' : mask(reason));
    };
    try {
      const missing = await missingPrerequisite(spec, objects);
      if (missing !== undefined) return failed(missing);
      changes.formerObjects = await objects.owned(spec.deploymentId);
      const databasePassword = passwordIn(changes.formerObjects, spec);
      mask = maskOf([...specSecrets(spec), databasePassword]);
      const { manifests, ignored } = kubernetesManifests({
        spec,
        imageUri: spec.program.imageUri,
        namespace,
        databasePassword,
        running: replicasIn(changes.formerObjects, spec),
        formerVolume: volumeIn(changes.formerObjects, spec),
        settings: partSettings,
      });
      for (const field of ignored) spec.log('warning', `resource_spec.${field} has no effect.`);
      const reason = await rollOut(manifests, changes, { objects, timeouts, log: spec.log, mask, signal });
      if (reason !== undefined) return await undoAndFail(reason);
      await prune(manifests, objects, spec.deploymentId);
      const name = baseName({ name: spec.name, id: spec.deploymentId });
      return { kind: 'running', agent: agentAt(`http://${name}.${namespace}.svc`) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return await undoAndFail(clusterProblem(error, connection.server, namespace));
    }
  }
}

const buildsUnsupported =
  'A cluster runs container images, which a build is not. Use the source external_docker, or a deployment without a listener.';

const failed = (reason: string): AgentStart => ({ kind: 'failed', reason });

/** Represents a deployment's agents in the cluster, which decides when they end. */
function agentAt(origin: string): RunningAgent {
  const { promise: exited, resolve } = Promise.withResolvers<string>();
  // The whole cluster can reach the Service, so a token would protect nothing.
  return { origin, token: '', stop: async () => resolve('it is left to the cluster'), exited };
}

async function missingPrerequisite({ resourceSpec }: AgentSpec, objects: Objects): Promise<string | undefined> {
  const { namespace } = objects;
  if (!(await namespaceExists(objects))) return missingNamespace(namespace);
  const { service_account_name: account, image_pull_secrets: pullSecrets } = resourceSpec ?? {};
  if (account) {
    const path = `${objects.path}/serviceaccounts/${encodeURIComponent(account)}`;
    const found = await objects.read(`read service account ${account}`, path);
    if (!found) return missingServiceAccount(account, namespace);
  }
  for (const { name } of pullSecrets ?? []) {
    const type = await typeOfSecret(name, objects);
    if (type !== undefined && !pullSecretTypes.has(type)) return wrongPullSecret(name, namespace, type);
  }
  return undefined;
}

/** The types of the Secrets with which a cluster pulls images. */
const pullSecretTypes = new Set(['kubernetes.io/dockerconfigjson', 'kubernetes.io/dockercfg']);
const typedSecret = z.looseObject({ type: z.string().default('Opaque') });

/** The type of a Secret; undefined where it is missing (the image may not need it) or this account may not read it. */
async function typeOfSecret(name: string, objects: Objects): Promise<string | undefined> {
  try {
    const path = `${objects.path}/secrets/${encodeURIComponent(name)}`;
    const found = await objects.read(`read secret ${name}`, path);
    return found === undefined ? undefined : typedSecret.parse(found).type;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 403) return undefined;
    throw error;
  }
}

/** A role for a namespace often can't read the namespace itself: on a 403, assume that it exists. */
async function namespaceExists(objects: Objects): Promise<boolean> {
  try {
    return (await objects.read(`read namespace ${objects.namespace}`, objects.path)) !== undefined;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 403) return true;
    throw error;
  }
}

/** The object of a deployment's part, as last applied to the cluster. */
function objectIn(owned: readonly OwnObject[], { name, deploymentId }: AgentSpec, kind: Kind, part: Part): unknown {
  const objectName = partName(baseName({ name, id: deploymentId }), part);
  return owned.find((one) => one.kind === kind && one.name === objectName)?.object;
}

const passwordSecret = z.looseObject({ data: z.looseObject({ [passwordKey]: z.string().min(1) }) });

/** The password of the deployment's own database: the existing one, or a new one. */
function passwordIn(owned: readonly OwnObject[], spec: AgentSpec): string {
  const inBase64 = passwordSecret.safeParse(objectIn(owned, spec, 'Secret', 'database')).data?.data[passwordKey];
  return typeof inBase64 === 'string'
    ? Buffer.from(inBase64, 'base64').toString()
    : randomBytes(24).toString('base64url');
}

const claimSchema = z.looseObject({
  spec: z.looseObject({
    resources: z.looseObject({ requests: z.looseObject({ storage: z.string().min(1) }) }),
    storageClassName: z.string().optional(),
  }),
});

function volumeIn(owned: readonly OwnObject[], spec: AgentSpec): FormerVolume | undefined {
  const found = claimSchema.safeParse(objectIn(owned, spec, 'PersistentVolumeClaim', 'database')).data?.spec;
  return found && { storage: found.resources.requests.storage, storageClass: found.storageClassName };
}

const replicasSchema = z.looseObject({ spec: z.looseObject({ replicas: z.number() }) });

function replicasIn(owned: readonly OwnObject[], spec: AgentSpec) {
  const replicasOf = (part: 'agent' | 'queue'): number | undefined =>
    replicasSchema.safeParse(objectIn(owned, spec, 'Deployment', part)).data?.spec.replicas;
  return { agent: replicasOf('agent'), queue: replicasOf('queue') };
}
