import type { Desired, DesiredDeployment } from '../file/desired.ts';
import type { PackedSource } from '../../kit/archive/pack.ts';
import { ServiceError } from '../../contract/service-error.ts';
import {
  decidePreview,
  entryOf,
  expiryOf,
  isExpired,
  isPreviewOf,
  previewName,
  previewOf,
  tooMany,
  type PreviewDecision,
} from '../rules/preview.ts';
import type { PreviewPull } from '../rules/preview-source.ts';
import { tryCall } from '../smoke/try-call.ts';
import {
  idleWords,
  notRemovedNote,
  previewFailure,
  previewInterrupted,
  refusalWords,
  removedWords,
} from '../words/preview.ts';
import { deploy, isCancellation } from './deploy.ts';
import type { RunTerms } from './deploy-run.ts';
import type { Outcome, PreviewEnd, PreviewReport, RemovedPreview } from './outcome-types.ts';
import { listPreviews, type Preview } from './previews.ts';
import { isLeaving } from './remove.ts';

/** A pull request as GitHub has it now. */
export interface PullRequest extends PreviewPull {
  isOpen: boolean;
  labels: readonly string[];
  headSha: string;
}

/** What a run about the preview of a pull request is given. */
export interface PreviewRequest extends Omit<
  RunTerms,
  'smokeTests' | 'conversations' | 'verify' | 'onFailure' | 'onUnproven' | 'previewRun' | 'tarball' | 'agentUrl'
> {
  /** What the file says of the deployment; absent: it was not read, for the pull request was closed. */
  deployment: DesiredDeployment | undefined;
  pull: PullRequest;
  /** The commit of a fork that a person approved. */
  approvedSha?: string | undefined;
  /** A person requested this run. */
  isRequested: boolean;
  /** The commit that the event is about. */
  eventSha?: string | undefined;
  /** The label that was added or removed. */
  changedLabel?: string | undefined;
  /** The value that this host has for a variable. */
  valueOfVariable: (variable: string) => string | undefined;
  /** Packs a folder, once it is known that it is deployed. */
  pack: (desired: Desired) => Promise<{ ok: true; tarball?: PackedSource } | { ok: false; outcome: Outcome }>;
  /** Whether a pull request of the repository is closed; undefined where that is not known. */
  isClosed: (number: number) => Promise<boolean | undefined>;
}

/** Creates, updates or removes the preview of a pull request, and removes those of the repository that are over. */
export async function runPreview(request: PreviewRequest): Promise<Outcome> {
  const { pull, deployment, signal } = request;
  const removed: RemovedPreview[] = [];
  const entry = deployment && entryOf(deployment.desired);
  const report: PreviewReport = { pullRequest: pull.number, ...(entry === undefined ? {} : { entry }), removed };
  try {
    const previews = await listPreviews(request.control, pull.repositoryId, () => reading(request));
    const run: PreviewSteps = { request, previews, removed, report, left: [] };
    const outcome = pull.isOpen ? await whileOpen(deployment, run) : await removeOwn(run);
    const notes = [...outcome.notes, ...run.left];
    return { ...outcome, notes, preview: { ...report, ...outcome.preview, ...(await expiry(outcome, request)) } };
  } catch (error) {
    if (isCancellation(error, signal)) return { ...previewInterrupted, preview: report };
    if (error instanceof ServiceError) return { ...previewFailure(error), preview: report };
    throw error;
  }
}

/** What the steps of a run share. */
interface PreviewSteps {
  request: PreviewRequest;
  /** Those of the repository when the run began. */
  previews: readonly Preview[];
  /** Those that this run removed. */
  removed: RemovedPreview[];
  report: PreviewReport;
  /** What it could not remove, for the notes. */
  left: string[];
}

/** How long one read may take (ms). */
const readMs = 60_000;

const reading = ({ signal, clock }: PreviewRequest) => ({ signal, deadline: clock.now() + readMs });

const idle = (reason: string, advice?: string): Outcome => ({
  kind: 'neutral',
  passes: true,
  reason,
  ...(advice === undefined ? {} : { advice }),
  changed: false,
  notes: [],
});

/** Removes every preview of a pull request that is closed, whatever the deploy file says now. */
async function removeOwn(run: PreviewSteps): Promise<Outcome> {
  const { previews, removed, request } = run;
  const { number } = request.pull;
  const outcomes: Outcome[] = [];
  for (const each of previews.filter((preview) => preview.number === number)) {
    outcomes.push(await remove(each, 'closed', run));
  }
  await sweepClosed(run);
  const [worst = idle('')] = [...outcomes.filter(({ passes }) => !passes), ...outcomes];
  const own = removed.filter(({ pullRequest }) => pullRequest === number);
  if (!worst.passes) return worst;
  return { ...worst, kind: 'deleted', reason: removedWords(own, number), changed: own.length > 0 };
}

async function whileOpen(deployment: DesiredDeployment | undefined, run: PreviewSteps): Promise<Outcome> {
  const { request, previews, report } = run;
  const { pull, eventSha, changedLabel, approvedSha, isRequested, clock } = request;
  const entry = deployment ? entryOf(deployment.desired) : '';
  const { number, headSha } = pull;
  const rests = (why: Parameters<typeof idleWords>[0]): Outcome => {
    const { reason, advice } = idleWords(why, { number, entry, headSha: eventSha ?? headSha });
    return idle(reason, advice);
  };
  if (!deployment) return rests({ kind: 'reopened' });
  if (eventSha !== undefined && eventSha.toLowerCase() !== headSha.toLowerCase()) return rests({ kind: 'outdated' });
  const terms = deployment.preview;
  if (changedLabel !== undefined && terms && !isLabelOf(terms.when, changedLabel))
    return rests({ kind: 'other-label' });
  const key = { repositoryId: pull.repositoryId, number, entry };
  const own = previews.filter((each) => isPreviewOf(each.deployment, key));
  const existing = own[0] && {
    isExpired: terms !== undefined && own.every((each) => isExpired(each.deployment.updated_at, terms, clock.now())),
  };
  const decision: PreviewDecision = decidePreview({ terms, pull, approvedSha, isRequested, existing });
  await sweepClosed(run);
  if (decision.kind === 'none') return rests(decision);
  if (decision.kind === 'wait') return { ...rests(decision), preview: { ...report, waits: decision.code } };
  if (decision.kind === 'remove' || !terms) {
    return removeEach(own, decision.kind === 'remove' ? decision.code : 'not-in-file', run);
  }
  const made = previewOf(deployment, terms, pull, request.valueOfVariable);
  if (made.kind === 'refused') return { ...idle(''), kind: 'refused', passes: false, ...refusalWords(made.refusal) };
  await makeRoom(terms, { own, entry, name: previewName(key, terms.name) }, run);
  const { name: production, deploymentId } = deployment.desired;
  const previewRun = { key, mustPin: pull.isFork, production: { name: production, deploymentId } };
  return deployPreview(made.deployment, previewRun, run);
}

const isLabelOf = (when: string | { label: string }, label: string): boolean =>
  typeof when === 'object' && when.label.toLowerCase() === label.toLowerCase();

async function deployPreview(
  { desired, ...tested }: DesiredDeployment,
  previewRun: NonNullable<RunTerms['previewRun']>,
  run: PreviewSteps,
): Promise<Outcome> {
  const { request } = run;
  const packed = await request.pack(desired);
  if (!packed.ok) return packed.outcome;
  const { pull } = request;
  const notes = [...(tested.notes ?? []), ...(request.notes ?? [])];
  const outcome = await deploy({
    ...request,
    ...tested,
    notes,
    mode: 'deploy',
    desired,
    previewRun,
    tarball: packed.tarball,
    // The service builds the head of a branch: no other commit than this one is deployed.
    head: pull.headSha,
    commit: pull.headSha,
  });
  // Closed meanwhile: the run of that event may have found nothing to remove.
  if ((await request.isClosed(pull.number)) !== true) return outcome;
  const again = await listPreviews(request.control, pull.repositoryId, () => reading(request));
  return removeOwn({ ...run, previews: again });
}

/** Before a preview is made: what has its place is removed, and what has its name and is being deleted is waited for. */
async function makeRoom(
  terms: NonNullable<DesiredDeployment['preview']>,
  { own, entry, name }: { own: readonly Preview[]; entry: string; name: string },
  run: PreviewSteps,
): Promise<void> {
  const now = run.request.clock.now();
  for (const each of own) {
    if (each.deployment.name !== name) await remove(each, 'renamed', run);
    else if (isLeaving(each.deployment)) await remove(each, 'closed', run);
  }
  const others = run.previews.filter((each) => each.entry === entry && !own.includes(each) && !isRemoved(each, run));
  const expired = others.filter(({ deployment }) => isExpired(deployment.updated_at, terms, now));
  for (const each of expired) await remove(each, 'expired', run);
  const rest = others.filter((each) => !expired.includes(each)).map(({ deployment }) => deployment);
  const over = new Set(tooMany(rest, terms));
  for (const each of others) if (over.has(each.deployment)) await remove(each, 'too-many', run);
}

const isRemoved = ({ deployment }: Preview, { removed }: PreviewSteps): boolean =>
  isLeaving(deployment) || removed.some(({ name }) => name === deployment.name);

/** How many other pull requests a run looks up: each takes a request to GitHub. */
const maxLookedUp = 30;

/** Removes what runs that were lost or ended left of pull requests that are closed. */
async function sweepClosed(run: PreviewSteps): Promise<void> {
  const { request, previews } = run;
  const others = previews.filter((each) => each.number !== request.pull.number && !isLeaving(each.deployment));
  const oldest = others.toSorted((one, other) => one.number - other.number);
  const numbers = [...new Set(oldest.map(({ number }) => number))].slice(0, maxLookedUp);
  for (const number of numbers) {
    if ((await request.isClosed(number)) !== true) continue;
    for (const each of others.filter((other) => other.number === number)) await remove(each, 'closed', run);
  }
}

async function removeEach(previews: readonly Preview[], code: PreviewEnd, run: PreviewSteps): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const each of previews) outcomes.push(await remove(each, code, run));
  const [worst = idle('')] = [...outcomes.filter(({ passes }) => !passes), ...outcomes];
  const { removed, request } = run;
  const own = removed.filter(({ pullRequest }) => pullRequest === request.pull.number);
  return worst.passes ? { ...worst, kind: 'deleted', reason: removedWords(own, request.pull.number) } : worst;
}

/** Deletes a preview; its mark is looked at again before. That of another pull request is not waited for. */
async function remove({ deployment, number, entry }: Preview, code: PreviewEnd, run: PreviewSteps): Promise<Outcome> {
  const { request, removed, left } = run;
  const { repositoryId } = request.pull;
  const isOwn = number === request.pull.number;
  const outcome = await deploy({
    ...request,
    smokeTests: [],
    onFailure: 'keep',
    mode: 'delete',
    named: { deploymentId: deployment.id },
    previewRun: { key: { repositoryId, number, entry }, production: {} },
    keepTracingProject: false,
    wait: isOwn && request.wait,
    emit: isOwn ? request.emit : undefined,
  });
  if (!outcome.passes) left.push(notRemovedNote(deployment.name, outcome.reason));
  else if (!isLeaving(deployment)) removed.push({ name: deployment.name, pullRequest: number, entry, code });
  return outcome;
}

/** When the preview of an outcome is over. */
async function expiry(
  { kind, deploymentId }: Outcome,
  request: PreviewRequest,
): Promise<Pick<PreviewReport, 'expiresAt'>> {
  const terms = request.deployment?.preview;
  if (!terms || deploymentId === undefined || kind === 'deleted') return {};
  const read = await tryCall(request.control.getDeployment(deploymentId, reading(request)));
  const at = read.ok ? expiryOf(read.value.updated_at, terms) : undefined;
  return at === undefined ? {} : { expiresAt: new Date(at).toISOString() };
}
