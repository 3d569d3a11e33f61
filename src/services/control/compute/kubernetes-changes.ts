import * as z from 'zod';
import { pause, steadyNow } from '../../../kit/clock.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import { ServiceError } from '../../../contract/service-error.ts';
import { kindsOfParts, type Kind, type Manifest, labelKeys } from '../kubernetes/manifest.ts';
import type { AgentSpec, WorkLease } from './compute.ts';
import {
  everyMs,
  waitForRollout,
  workloadsOf,
  type RolloutContext,
  type FollowTimeouts,
} from './kubernetes-rollout-wait.ts';
import type { Objects, OwnObject } from './kubernetes-objects.ts';
import { seconds } from './kubernetes-messages.ts';

/** The changes of a start to the cluster, and the former state. */
export interface AppliedChanges {
  applied: Manifest[];
  former: OwnObject[];
}

/** Applies everything, dependencies first, and waits until it is available. */
export async function rollOut(
  manifests: readonly Manifest[],
  started: AppliedChanges,
  following: RolloutContext,
): Promise<string | undefined> {
  const { base, onIt } = workloadsOf(manifests);
  const last = manifests.filter((one) => onIt.includes(one) || one.kind === 'HorizontalPodAutoscaler');
  const first = manifests.filter((one) => !last.includes(one));
  for (const [applied, awaited] of [
    [first, base],
    [last, onIt],
  ] as const) {
    for (const manifest of applied) {
      started.applied.push(manifest);
      await following.objects.apply(manifest, started.former.some(isSame(manifest)));
    }
    const reason = await waitForRollout(awaited, following);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const isSame =
  ({ kind, metadata }: Manifest) =>
  (other: OwnObject): boolean =>
    other.kind === kind && other.name === metadata.name;

/** Removes objects that only former revisions had. Data outlives every revision: it is removed with the deployment. */
export async function prune(manifests: readonly Manifest[], objects: Objects, deploymentId: string): Promise<void> {
  const owned = await objects.owned(deploymentId);
  const storage = owned.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(({ name }) => name);
  for (const object of owned.toReversed()) {
    const { kind, name } = object;
    const isKept = manifests.some((manifest) => isSame(manifest)(object));
    const holdsData = kind === 'PersistentVolumeClaim' || (kind === 'Secret' && storage.includes(name));
    if (!isKept && !holdsData) await objects.remove(kind, name);
  }
}

const maxNamed = 5;

/** Removes a deployment, workloads first, and waits until the last pod has ended. @throws Error with what is left. */
export async function removeAll(
  deploymentId: string,
  objects: Objects,
  { clock, withinMs }: Pick<FollowTimeouts, 'clock' | 'withinMs'>,
  hold: WorkLease | undefined,
): Promise<void> {
  const owned = await objects.owned(deploymentId);
  for (const kind of kindsOfParts.toReversed()) {
    for (const { name } of owned.filter((one) => one.kind === kind)) await objects.remove(kind, name);
  }
  const labelSelector = `${labelKeys.deployment}=${deploymentId}`;
  for (const started = steadyNow(clock); ; await pause(clock, everyMs, hold?.lost)) {
    hold?.check();
    const running = await objects.list('list pods', `${objects.path}/pods`, { labelSelector });
    const left = [
      ...(await objects.owned(deploymentId)).map(({ kind, name }) => `${kind} ${name}`),
      ...running.map(({ metadata }) => `Pod ${metadata.name}`),
    ];
    if (left.length === 0) return;
    if (steadyNow(clock) - started < withinMs) continue;
    const more = left.length > maxNamed ? ` and ${left.length - maxNamed} more` : '';
    const named = left.slice(0, maxNamed).join(', ');
    throw new Error(`After ${seconds(withinMs)} these objects still exist: ${named}${more}.`);
  }
}

/** The kinds that describe workloads. The others are new with every revision, or hold data. */
const canGoBack = new Set<Kind>(['Deployment', 'StatefulSet', 'HorizontalPodAutoscaler']);

const specified = z.looseObject({ spec: z.record(z.string(), z.unknown()) });

/**
 * Undoes a start: deletes what is new and restores what was changed, unless that was already this revision's. @throws
 * ClaimLost where another worker owns the work now: then everything stays as it is.
 */
export async function undoRollOut(
  { applied, former }: AppliedChanges,
  objects: Objects,
  spec: AgentSpec,
  mask: Mask,
  hold: WorkLease | undefined,
): Promise<void> {
  if (applied.length === 0) return;
  try {
    const owned = await objects.owned(spec.deploymentId);
    for (const manifest of applied.toReversed()) {
      const before = former.find(isSame(manifest));
      // An object of another owner with the same name was never changed.
      if (!owned.some(isSame(manifest))) continue;
      if (!before) await objects.remove(manifest.kind, manifest.metadata.name);
      else if (canGoBack.has(manifest.kind)) {
        const { labels, annotations } = before.object.metadata;
        const metadata = { ...manifest.metadata, labels, annotations };
        await objects.apply({ ...manifest, metadata, spec: specified.parse(before.object).spec }, true);
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    hold?.check();
    spec.log('warning', mask(`The former state of the cluster could not be restored: ${error.message}`));
  }
}
