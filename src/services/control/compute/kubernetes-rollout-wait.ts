import { type Clock, pause, steadyNow } from '../../../kit/clock.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import { withoutFullStop } from '../../../kit/plain-text.ts';
import { ServiceError } from '../../../contract/service-error.ts';
import * as z from 'zod';
import { pathOf, type Manifest, asQuery, labelKeys } from '../kubernetes/manifest.ts';
import type { ClusterObject, Objects } from './kubernetes-objects.ts';
import {
  describeEvent,
  isResolvedOnceRun,
  podEvent,
  namesCause,
  isInformative,
  occurredAt,
  type PodEvent,
  seconds,
} from './kubernetes-messages.ts';
import { podProblems, rolloutState, type PodProblem } from './kubernetes-rollout.ts';
import { outputExcerpt } from './output-excerpt.ts';
import type { WriteLine } from './log-line.ts';

/** The polling interval. */
export const pollMs = 1_000;

export interface FollowTimeouts {
  clock: Clock;
  withinMs: number;
  /** How long a pod may stay in an error that waiting does not fix, before the rollout fails (ms). */
  failureGraceMs: number;
}

export interface RolloutContext {
  objects: Objects;
  timeouts: FollowTimeouts;
  log: WriteLine;
  mask: Mask;
  signal: AbortSignal;
}

/** The most pods whose last log lines are reported: the others usually fail in the same way. */
const maxPods = 3;
const maxLines = 40;
const maxLogBytes = 65_536;
const maxEvents = 5;

/** Waits until all Deployments and StatefulSets are rolled out; returns the reason where they are not. */
export async function waitForRollout(
  workloads: readonly Manifest[],
  following: RolloutContext,
): Promise<string | undefined> {
  const { timeouts, signal, log, mask } = following;
  const { clock, withinMs, failureGraceMs } = timeouts;
  const started = steadyNow(clock);
  let failingSince: number | undefined;
  let reported = '';
  while (!signal.aborted) {
    const isLate = steadyNow(clock) - started >= withinMs;
    const observation = await observeWorkloads(workloads, following, isLate);
    if (!observation) {
      await pause(clock, pollMs, signal);
      continue;
    }
    const { open, pods } = observation;
    if (open.length === 0) return undefined;
    const progress = open
      .map(({ workload, state }) => `${workload.metadata.name}: ${state.kind === 'ready' ? '' : state.words}`)
      .join('; ');
    if (progress !== reported) log('info', mask(`Waiting for the cluster. ${progress}.`));
    reported = progress;

    const problems = podProblems(pods);
    const stuck = open.flatMap(({ state }) => (state.kind === 'progressing' && state.stuck ? [state.stuck] : []));
    const isStuck = stuck.length > 0 || problems.some(({ isTransient }) => !isTransient);
    const now = steadyNow(clock);
    failingSince = isStuck ? (failingSince ?? now) : undefined;

    const failedWorkload = open.find(({ state }) => state.kind === 'failed');
    if (failedWorkload || isLate || (failingSince !== undefined && now - failingSince >= failureGraceMs)) {
      const what =
        failedWorkload || !isLate ? 'The rollout failed' : `The rollout did not end within ${seconds(withinMs)}`;
      return [
        `${what}: ${progress}.`,
        ...stuck.map(sentence),
        ...(await describeProblems(problems, pods, following)),
      ].join(' ');
    }
    await pause(clock, pollMs, signal);
  }
  return 'The start was aborted.';
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${withoutFullStop(text.slice(1))}.`;

/** The workloads that are not rolled out yet, with their pods; undefined where the cluster is unavailable. */
async function observeWorkloads(
  workloads: readonly Manifest[],
  { objects, log, mask }: RolloutContext,
  isLate: boolean,
) {
  try {
    const observations = await Promise.all(workloads.map((workload) => observeWorkload(workload, objects)));
    const unready = observations.filter(({ state }) => state.kind !== 'ready');
    const pods = await Promise.all(unready.map(({ workload }) => podsOf(workload, objects)));
    return { open: unready, pods: pods.flat() };
  } catch (error) {
    const canPass = error instanceof ServiceError && (error.kind === 'busy' || error.kind === 'unreachable');
    if (!canPass || isLate) throw error;
    log('warning', mask(`The cluster does not answer (${error.message}). The rollout continues in the cluster.`));
    return undefined;
  }
}

async function observeWorkload(workload: Manifest, objects: Objects) {
  const { kind, metadata } = workload;
  const object = await objects.read(`read ${kind} ${metadata.name}`, pathOf(kind, objects.namespace, metadata.name));
  const state = object ? rolloutState(object) : { kind: 'failed' as const, words: 'it was deleted during the rollout' };
  return { workload, state };
}

/** The pods of a workload, without those of an earlier revision where labels tell them apart. */
async function podsOf({ metadata, spec }: Manifest, objects: Objects): Promise<ClusterObject[]> {
  const template = templateLabels.parse(spec);
  const revision = template.template.metadata.labels[labelKeys.revision];
  const labelSelector = asQuery({
    ...template.selector.matchLabels,
    ...(revision === undefined ? {} : { [labelKeys.revision]: revision }),
  });
  return objects.list(`list pods of ${metadata.name}`, `${objects.path}/pods`, { labelSelector });
}

const labels = z.record(z.string(), z.string());
const templateLabels = z.looseObject({
  selector: z.looseObject({ matchLabels: labels }),
  template: z.looseObject({ metadata: z.looseObject({ labels }) }),
});

/** The problems of the pods, in sentences; their output and events go to the log. */
async function describeProblems(
  problems: readonly PodProblem[],
  pods: readonly ClusterObject[],
  following: RolloutContext,
) {
  const sentences: string[] = [];
  const podNames = problems.length > 0 ? problems.map(({ pod }) => pod) : pods.map(({ metadata }) => metadata.name);
  const events = new Map<string, PodEvent | undefined>();
  for (const pod of [...new Set(podNames)].slice(0, maxPods)) events.set(pod, await logEvents(pod, following));
  for (const { pod, words, log } of problems.slice(0, maxPods)) {
    const cause = log && (await logLastLines(pod, log, following));
    const lastLine = cause === undefined ? '' : ` Its last line: ${cause}`;
    const event = events.get(pod);
    const isNew = event && isInformative(event) && !words.includes(event.message) && !(log && isResolvedOnceRun(event));
    sentences.push(
      `Pod ${pod}: ${withoutFullStop(words)}.${isNew ? ` Cluster event: ${describeEvent(event)}` : ''}${lastLine}`,
    );
  }
  if (problems.length === 0) {
    for (const [pod, note] of events) if (note) sentences.push(`Pod ${pod}: Cluster event: ${describeEvent(note)}`);
  }
  if (problems.length > maxPods) sentences.push(`${problems.length - maxPods} more pods have problems.`);
  return sentences;
}

/** Logs the cluster's events about a pod; returns the one that explains best why it does not run. */
async function logEvents(pod: string, following: RolloutContext): Promise<PodEvent | undefined> {
  const { objects, log, mask } = following;
  const query = { fieldSelector: `involvedObject.kind=Pod,involvedObject.name=${pod}` };
  const listed = objects.list(`list events of pod ${pod}`, `${objects.path}/events`, query);
  const events = await unlessRefused(listed, following);
  const warnings = (events ?? [])
    .map((reported) => podEvent.parse(reported))
    .filter(({ type }) => type === 'Warning')
    .toSorted((one, other) => occurredAt(one).localeCompare(occurredAt(other)));
  for (const { reason, message } of warnings.slice(-maxEvents)) {
    log('warning', mask(`Pod ${pod}: ${reason}: ${message}`));
  }
  return warnings.findLast(namesCause) ?? warnings.findLast(isInformative) ?? warnings.at(-1);
}

/** Logs the last lines of a container; returns the one that explains the failure best. */
async function logLastLines(
  pod: string,
  { container, previous }: { container: string; previous: boolean },
  following: RolloutContext,
): Promise<string | undefined> {
  const { objects, log, mask } = following;
  const path = `${objects.path}/pods/${encodeURIComponent(pod)}/log`;
  const query = {
    container,
    tailLines: String(maxLines),
    limitBytes: String(maxLogBytes),
    ...(previous ? { previous: 'true' } : {}),
  };
  const text = await unlessRefused(objects.text(`read the log of pod ${pod}`, path, query), following);
  const excerpt = outputExcerpt();
  for (const line of (text ?? '').split('\n').filter((one) => one.trim() !== '')) {
    const masked = mask(line);
    excerpt.add('error', masked);
    log('error', masked);
  }
  return excerpt.cause();
}

/** Logs a refusal instead of throwing it: a failure to fetch details must not hide the original one. */
async function unlessRefused<T>(response: Promise<T>, { log, mask }: RolloutContext): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log('warning', mask(`The cluster did not let us ${error.operation}: ${error.detail ?? error.kind}.`));
    return undefined;
  }
}

/** Splits the workloads into cache and database (`base`) and those that depend on them. */
export function workloadsOf(manifests: readonly Manifest[]): { base: Manifest[]; dependents: Manifest[] } {
  const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  const isBase = ({ metadata: { labels } }: Manifest): boolean =>
    ['cache', 'database'].includes(labels[labelKeys.component] ?? '');
  return { base: workloads.filter(isBase), dependents: workloads.filter((manifest) => !isBase(manifest)) };
}
