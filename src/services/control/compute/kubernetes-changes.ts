import * as z from 'zod';
import { pause, steadyNow } from '../../../kit/clock.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import { ServiceError } from '../../../contract/service-error.ts';
import { kindsOfParts, type Kind, type Manifest, labelKeys } from '../kubernetes/manifest.ts';
import type { AgentSpec, WorkLease } from './compute.ts';
import {
  pollMs,
  waitForRollout,
  workloadsOf,
  type RolloutContext,
  type FollowTimeouts,
} from './kubernetes-rollout-wait.ts';
import type { Objects, OwnObject } from './kubernetes-objects.ts';
import { seconds } from './kubernetes-messages.ts';

/** The manifests that a start has applied, and the deployment's objects before it. */
export interface AppliedChanges {
  applied: Manifest[];
  formerObjects: OwnObject[];
}

/** Applies everything, dependencies first, and waits until it is available. Returns the reason where it is not. */
export async function rollOut(
  manifests: readonly Manifest[],
  started: AppliedChanges,
  following: RolloutContext,
): Promise<string | undefined> {
  const { base, dependents } = workloadsOf(manifests);
  const last = manifests.filter((one) => dependents.includes(one) || one.kind === 'HorizontalPodAutoscaler');
  const first = manifests.filter((one) => !last.includes(one));
  for (const [applied, awaited] of [
    [first, base],
    [last, dependents],
  ] as const) {
    for (const manifest of applied) {
      started.applied.push(manifest);
      await following.objects.apply(manifest, started.formerObjects.some(describes(manifest)));
    }
    const reason = await waitForRollout(awaited, following);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

const describes =
  ({ kind, metadata }: Manifest) =>
  (other: OwnObject): boolean =>
    other.kind === kind && other.name === metadata.name;

/** Removes objects that only earlier revisions had, except data: that is removed with the deployment. */
export async function prune(manifests: readonly Manifest[], objects: Objects, deploymentId: string): Promise<void> {
  const owned = await objects.owned(deploymentId);
  const storage = owned.filter(({ kind }) => kind === 'PersistentVolumeClaim').map(({ name }) => name);
  for (const object of owned.toReversed()) {
    const { kind, name } = object;
    const isCurrent = manifests.some((manifest) => describes(manifest)(object));
    const holdsData = kind === 'PersistentVolumeClaim' || (kind === 'Secret' && storage.includes(name));
    if (!isCurrent && !holdsData) await objects.remove(kind, name);
  }
}

const maxExamples = 5;

/** Removes a deployment, workloads first, and waits until the last pod has ended. @throws Error listing what remains. */
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
  for (const started = steadyNow(clock); ; await pause(clock, pollMs, hold?.lost)) {
    hold?.check();
    const running = await objects.list('list pods', `${objects.path}/pods`, { labelSelector });
    const left = [
      ...(await objects.owned(deploymentId)).map(({ kind, name }) => `${kind} ${name}`),
      ...running.map(({ metadata }) => `Pod ${metadata.name}`),
    ];
    if (left.length === 0) return;
    if (steadyNow(clock) - started < withinMs) continue;
    const more = left.length > maxExamples ? ` and ${left.length - maxExamples} more` : '';
    const examples = left.slice(0, maxExamples).join(', ');
    throw new Error(`After ${seconds(withinMs)} these objects still exist: ${examples}${more}.`);
  }
}

/** The kinds that can be restored: they describe workloads. The others are new with every revision, or hold data. */
const restorableKinds = new Set<Kind>(['Deployment', 'StatefulSet', 'HorizontalPodAutoscaler']);

const objectWithSpec = z.looseObject({ spec: z.record(z.string(), z.unknown()) });

/**
 * Undoes a start: deletes new objects and restores changed ones. @throws ClaimLost where another worker owns the work
 * now: then everything stays as it is.
 */
export async function undoRollOut(
  { applied, formerObjects }: AppliedChanges,
  objects: Objects,
  spec: AgentSpec,
  mask: Mask,
  hold: WorkLease | undefined,
): Promise<void> {
  if (applied.length === 0) return;
  try {
    const owned = await objects.owned(spec.deploymentId);
    for (const manifest of applied.toReversed()) {
      const before = formerObjects.find(describes(manifest));
      // An object of another owner with the same name was never changed.
      if (!owned.some(describes(manifest))) continue;
      if (!before) await objects.remove(manifest.kind, manifest.metadata.name);
      else if (restorableKinds.has(manifest.kind)) {
        const { labels, annotations } = before.object.metadata;
        const metadata = { ...manifest.metadata, labels, annotations };
        await objects.apply({ ...manifest, metadata, spec: objectWithSpec.parse(before.object).spec }, true);
      }
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    hold?.check();
    spec.log('warning', mask(`The former state of the cluster could not be restored: ${error.message}`));
  }
}
