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
import { idleWords, previewFailure, previewInterrupted, refusalWords } from '../words/preview.ts';
import { deploy, isCancellation } from './deploy.ts';
import type { RunTerms } from './deploy-run.ts';
import type { Outcome, PreviewReport, RemovedPreview } from './outcome-types.ts';
import {
  idle,
  isRemoved,
  remove,
  removeEach,
  removeOwn,
  sweepClosed,
  sweepExpired,
  type PreviewSteps,
} from './preview-removal.ts';
import { listPreviews, type Preview } from './previews.ts';
import { isLeaving } from './remove.ts';

/** A pull request as GitHub has it now. */
export interface PullRequest extends PreviewPull {
  isOpen: boolean;
  labels: readonly string[];
  headSha: string;
}

/** What a run about the previews of a repository is given. */
export interface SweepRequest extends Omit<
  RunTerms,
  'smokeTests' | 'conversations' | 'verify' | 'onFailure' | 'onUnproven' | 'previewRun' | 'tarball' | 'agentUrl'
> {
  /** What the file says of the deployment; absent: it was not read, for the pull request was closed. */
  deployment: DesiredDeployment | undefined;
  /** Whether a pull request of the repository is closed; undefined where that is not known. */
  isClosed: (number: number) => Promise<boolean | undefined>;
}

/** What a run about the preview of a pull request is given besides. */
export interface PreviewRequest extends SweepRequest {
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
}

/** Creates, updates or removes the preview of a pull request, and removes those of the repository that are over. */
export async function runPreview(request: PreviewRequest): Promise<Outcome> {
  const { pull, deployment } = request;
  const entry = deployment && entryOf(deployment.desired);
  return withPreviews(request, { own: pull, entry }, async (run) => {
    const outcome = pull.isOpen ? await whileOpen(deployment, run) : await removeOwn(run);
    return { ...outcome, preview: { ...run.report, ...outcome.preview, ...(await expiry(outcome, request)) } };
  });
}

/** Removes the previews of a repository whose pull requests are closed, and those of a deployment that expired. */
export const sweepPreviews = (request: SweepRequest, repositoryId: number): Promise<Outcome> =>
  withPreviews(request, { own: { repositoryId }, entry: undefined }, async (run) => {
    const { deployment } = request;
    if (deployment?.preview) await sweepExpired(entryOf(deployment.desired), deployment.preview, run);
    return removeOwn(run);
  });

/** Works with the previews of a repository. Failures of the service end in an outcome. */
async function withPreviews<Request extends SweepRequest>(
  request: Request,
  { own, entry }: Pick<PreviewSteps, 'own'> & { entry: string | undefined },
  work: (run: PreviewSteps<Request>) => Promise<Outcome>,
): Promise<Outcome> {
  const { control, signal } = request;
  const removed: RemovedPreview[] = [];
  const report: PreviewReport = {
    ...(own.number === undefined ? {} : { pullRequest: own.number }),
    ...(entry === undefined ? {} : { entry }),
    removed,
  };
  try {
    const previews = await listPreviews(control, own.repositoryId, () => reading(request));
    const run: PreviewSteps<Request> = { request, own, previews, removed, report, left: [] };
    const outcome = await work(run);
    return { ...outcome, notes: [...outcome.notes, ...run.left], preview: outcome.preview ?? report };
  } catch (error) {
    if (isCancellation(error, signal)) return { ...previewInterrupted, preview: report };
    if (error instanceof ServiceError) return { ...previewFailure(error), preview: report };
    throw error;
  }
}

async function whileOpen(
  deployment: DesiredDeployment | undefined,
  run: PreviewSteps<PreviewRequest>,
): Promise<Outcome> {
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
  if (terms) await sweepExpired(entry, terms, run);
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
  run: PreviewSteps<PreviewRequest>,
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
  for (const each of own) {
    if (each.deployment.name !== name) await remove(each, 'renamed', run);
    else if (isLeaving(each.deployment)) await remove(each, 'closed', run);
  }
  const others = run.previews.filter((each) => each.entry === entry && !own.includes(each) && !isRemoved(each, run));
  const over = new Set(
    tooMany(
      others.map(({ deployment }) => deployment),
      terms,
    ),
  );
  for (const each of others) if (over.has(each.deployment)) await remove(each, 'too-many', run);
}

/** How long one read may take (ms). */
const readMs = 60_000;

const reading = ({ signal, clock }: SweepRequest) => ({ signal, deadline: clock.now() + readMs });

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
