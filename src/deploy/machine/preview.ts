import type { Desired, DesiredDeployment } from '../file/desired.ts';
import type { PreviewTerms } from '../file/preview-fields.ts';
import type { PackedSource } from '../../kit/archive/pack.ts';
import { ifFound, ServiceError } from '../../contract/service-error.ts';
import {
  decidePreview,
  entryOf,
  expiryOf,
  isExpired,
  isPreviewOf,
  previewName,
  previewOf,
  repositoryIdOn,
  tooMany,
  type PreviewDecision,
  type PreviewKey,
} from '../rules/preview.ts';
import type { PreviewPull } from '../rules/preview-source.ts';
import { tryCall } from '../smoke/try-call.ts';
import { idleWords, marksHiddenWords, previewFailure, previewInterrupted, refusalWords } from '../words/preview.ts';
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

/** A repository by its number at its host. */
export interface HostedRepository {
  id: number;
  serverUrl: string;
}

/** What a run about the previews of a repository is given. */
export interface SweepRequest extends Omit<
  RunTerms,
  'smokeTests' | 'conversations' | 'verify' | 'onFailure' | 'onUnproven' | 'previewRun' | 'tarball' | 'agentUrl'
> {
  /** What the file says of the deployment; absent: it was not read, for the pull request was closed. */
  deployment: DesiredDeployment | undefined;
  /** Clients of agents that send no key; absent: those of the run. */
  keylessAgents?: Pick<RunTerms, 'agentAt' | 'threadsAt'> | undefined;
  /** The name of the deployment where the file was not read. */
  entry?: string | undefined;
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
  /** The value that this host has for a variable. */
  valueOfVariable: (variable: string) => string | undefined;
  /** Packs a folder, once it is known that it is deployed. */
  pack: (desired: Desired) => Promise<{ ok: true; tarball?: PackedSource } | { ok: false; outcome: Outcome }>;
}

/** Creates, updates or removes the preview of a pull request, and removes those of the repository that are over. */
export async function runPreview({ pull: ofHost, ...given }: PreviewRequest): Promise<Outcome> {
  const { deployment } = given;
  const repositoryId = repositoryIdOn(ofHost.repositoryUrl, ofHost.repositoryId);
  const pull = { ...ofHost, repositoryId };
  const request = { ...given, pull };
  const entry = deployment && entryOf(deployment.desired);
  return withPreviews(request, { own: pull, entry }, async (run) => {
    const outcome = pull.isOpen ? await whileOpen(deployment, run) : await removeOwn(run);
    return { ...outcome, preview: { ...run.report, ...outcome.preview, ...(await expiry(outcome, request)) } };
  });
}

/** Removes the previews of a repository whose pull requests are closed, and those of a deployment that expired. */
export async function sweepPreviews(request: SweepRequest, { id, serverUrl }: HostedRepository): Promise<Outcome> {
  const own = { repositoryId: repositoryIdOn(serverUrl, id) };
  return withPreviews(request, { own, entry: undefined }, async (run) => {
    const { deployment } = request;
    if (deployment?.preview) await sweepExpired(entryOf(deployment.desired), deployment.preview, run);
    return removeOwn(run);
  });
}

/** The deployment that a run is about, also where the file was not read. */
const knownEntry = ({ deployment, entry }: SweepRequest): string | undefined =>
  deployment ? entryOf(deployment.desired) : entry;

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
    const previews = await listPreviews(control, own.repositoryId, () => reading(request), knownEntry(request));
    const run: PreviewSteps<Request> = { request, own, previews, removed, report, left: [] };
    const outcome = await work(run);
    return { ...outcome, notes: [...outcome.notes, ...run.left], preview: outcome.preview ?? report };
  } catch (error) {
    if (isCancellation(error, signal)) return { ...previewInterrupted(removed), preview: report };
    if (error instanceof ServiceError) return { ...previewFailure(error, removed), preview: report };
    throw error;
  }
}

async function whileOpen(
  deployment: DesiredDeployment | undefined,
  run: PreviewSteps<PreviewRequest>,
): Promise<Outcome> {
  const { request, previews, report } = run;
  const { pull, eventSha, approvedSha, isRequested, clock } = request;
  const entry = deployment ? entryOf(deployment.desired) : '';
  const { number, headSha } = pull;
  const rests = (why: Parameters<typeof idleWords>[0]): Outcome => {
    const { reason, advice } = idleWords(why, { number, entry, headSha: eventSha ?? headSha });
    return idle(reason, advice);
  };
  if (!deployment) return rests({ kind: 'reopened' });
  if (eventSha !== undefined && eventSha.toLowerCase() !== headSha.toLowerCase()) return rests({ kind: 'outdated' });
  const terms = deployment.preview;
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
  if (made.kind === 'refused') return refused(refusalWords(made.refusal));
  const packed = await request.pack(made.deployment.desired);
  if (!packed.ok) return packed.outcome;
  if (own.length === 0 && !(await showsMarks(request))) return refused(marksHiddenWords);
  // What has its name is waited for.
  for (const each of own.filter((one) => isLeaving(one.deployment))) await remove(each, 'closed', run);
  const outcome = await deployPreview({ ...made.deployment, tarball: packed.tarball }, key, run);
  if (outcome.deploymentId === undefined || outcome.kind === 'refused' || outcome.kind === 'deleted') return outcome;
  // What was listed before is as old as the build and its tests.
  const listed = await tryCall(relist(request));
  if (listed.ok) await makeRoom(terms, key, { ...run, previews: listed.value });
  return outcome;
}

const refused = (words: { reason: string; advice: string }): Outcome => ({
  ...idle(''),
  kind: 'refused',
  passes: false,
  ...words,
});

/** Whether the service says which secrets a deployment has. Without it no preview would be known again. */
async function showsMarks(request: PreviewRequest): Promise<boolean> {
  const { control } = request;
  const { resources } = await control.listDeployments({ limit: 1 }, reading(request));
  const [any] = resources;
  const read = any && (await ifFound(control.getDeployment(any.id, reading(request))));
  return !read || Array.isArray(read.secrets);
}

async function deployPreview(
  preview: DesiredDeployment & { tarball: PackedSource | undefined },
  key: PreviewKey,
  run: PreviewSteps<PreviewRequest>,
): Promise<Outcome> {
  const { request } = run;
  const { pull, control, deployment, agentAt, threadsAt } = request;
  const { name, deploymentId } = deployment?.desired ?? {};
  const notes = [...(preview.notes ?? []), ...(request.notes ?? [])];
  const previewRun = {
    key,
    mustPin: pull.isFork,
    production: { name, deploymentId },
    agents: { agentAt, threadsAt },
    idleAfter: deployment?.preview?.idleAfter,
  };
  // The key may change every deployment: the code of a stranger gets it from no service but one that keeps it back.
  const keepsKeys = !pull.isFork || (await control.features(reading(request))).pinsCommits === true;
  const outcome = await deploy({
    ...request,
    ...(keepsKeys ? {} : request.keylessAgents),
    ...preview,
    notes,
    mode: 'deploy',
    previewRun,
    // The service builds the head of a branch: no other commit than this one is deployed.
    head: pull.headSha,
    commit: pull.headSha,
  });
  if (
    outcome.kind === 'refused' &&
    !outcome.changed &&
    run.previews.every((each) => !isPreviewOf(each.deployment, key))
  )
    return withoutOthers(outcome);
  const made = outcome.plan?.kind === 'create' && outcome.changed ? outcome.deploymentId : undefined;
  if (made !== undefined && (await hidesMark(made, preview.desired, request))) {
    const named = { deploymentId: made };
    await deploy({ ...request, smokeTests: [], onFailure: 'keep', mode: 'delete', named, emit: undefined });
    return refused(marksHiddenWords);
  }
  // Closed meanwhile: the run of that event may have found nothing to remove.
  if ((await request.isClosed(pull.number)) !== true) return outcome;
  return removeOwn({ ...run, previews: await relist(request) });
}

/** A refusal without the deployment that has the name of the preview: it is not one. */
function withoutOthers(outcome: Outcome): Outcome {
  const { deploymentId: _id, deploymentUrl: _url, activeRevisionId: _active, consolePage: _page, ...rest } = outcome;
  return rest;
}

/** The previews of the repository as they are now. */
const relist = (request: PreviewRequest): Promise<Preview[]> =>
  listPreviews(request.control, request.pull.repositoryId, () => reading(request), knownEntry(request));

/**
 * Whether a service says nothing of the secrets of what was just made. One that has other secrets than the mark, or
 * another source, was made by another client.
 */
async function hidesMark(id: string, desired: Desired, request: PreviewRequest): Promise<boolean> {
  const read = await tryCall(request.control.getDeployment(id, reading(request)));
  if (!read.ok || read.value.secrets) return false;
  const { name, source, source_config: config, source_revision_config: revision } = read.value;
  const isOfHead =
    desired.source !== 'github' || (config.repo_url === desired.repoUrl && revision.repo_ref === desired.repoRef);
  return name === desired.name && source === desired.source && isOfHead;
}

/** Once a preview is there: what has its place is removed. */
async function makeRoom(terms: PreviewTerms, key: PreviewKey, run: PreviewSteps): Promise<void> {
  const name = previewName(key, terms.name);
  const own = run.previews.filter((each) => isPreviewOf(each.deployment, key));
  for (const each of own) if (each.deployment.name !== name) await remove(each, 'renamed', run);
  const others = run.previews.filter(
    (each) => each.entry === key.entry && !own.includes(each) && !isRemoved(each, run),
  );
  const dated = others.map((preview) => ({ preview, updated_at: preview.deployment.updated_at }));
  for (const { preview } of tooMany(dated, terms)) await remove(preview, 'too-many', run);
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
