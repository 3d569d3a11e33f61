import type { Deployment } from '../../contract/control/deployment.ts';
import { tryCall } from '../smoke/try-call.ts';
import { isExpired } from '../rules/preview.ts';
import type { PreviewTerms } from '../file/preview-fields.ts';
import { notRemovedNote, removedWords, sweptWords } from '../words/preview.ts';
import { deploy } from './deploy.ts';
import type { Outcome, PreviewEnd, PreviewReport, RemovedPreview } from './outcome-types.ts';
import type { SweepRequest } from './preview.ts';
import type { Preview } from './previews.ts';
import { isLeaving } from './remove.ts';

/** What the steps of a run share. */
export interface PreviewSteps<Request extends SweepRequest = SweepRequest> {
  request: Request;
  /** The repository, and the pull request that the run is about; without one it only sweeps. */
  own: { repositoryId: number; number?: number | undefined };
  /** Those of the repository when the run began. */
  previews: readonly Preview[];
  /** Those that this run removed. */
  removed: RemovedPreview[];
  report: PreviewReport;
  /** What it could not remove, for the notes. */
  left: string[];
}

/** The outcome of a run that leaves a pull request as it is. */
export const idle = (reason: string, advice?: string): Outcome => ({
  kind: 'neutral',
  passes: true,
  reason,
  ...(advice === undefined ? {} : { advice }),
  changed: false,
  notes: [],
});

/** Removes every preview of a pull request that is closed, whatever the deploy file says now. */
export async function removeOwn(run: PreviewSteps): Promise<Outcome> {
  const { previews, removed } = run;
  const { number } = run.own;
  const outcomes: Outcome[] = [];
  for (const each of previews.filter((preview) => preview.number === number)) {
    outcomes.push(await remove(each, 'closed', run));
  }
  await sweepClosed(run);
  const [worst = idle('')] = [...outcomes.filter(({ passes }) => !passes), ...outcomes];
  const own = removed.filter(({ pullRequest }) => pullRequest === number);
  if (!worst.passes) return worst;
  return {
    ...worst,
    kind: 'deleted',
    reason: number === undefined ? sweptWords(removed) : removedWords(own, number),
    changed: (number === undefined ? removed : own).length > 0,
  };
}

/** How many other pull requests a run looks up: each takes a request to GitHub. */
const maxLookedUp = 30;

/** Removes what runs that were lost or ended left of pull requests that are closed. */
export async function sweepClosed(run: PreviewSteps): Promise<void> {
  const { request, previews } = run;
  const others = previews.filter((each) => each.number !== run.own.number && !isLeaving(each.deployment));
  const numbers = [...new Set(others.map(({ number }) => number))];
  // On a schedule nothing hurries.
  const most = run.own.number === undefined ? Infinity : maxLookedUp;
  // Another run begins elsewhere: all are looked up in the end.
  const start = Math.floor(request.random() * numbers.length);
  for (const number of [...numbers.slice(start), ...numbers.slice(0, start)].slice(0, most)) {
    if ((await request.isClosed(number)) !== true) continue;
    for (const each of others.filter((other) => other.number === number)) await remove(each, 'closed', run);
  }
}

/** Removes the previews of a deployment that are beyond their time, but that of the run itself. */
export async function sweepExpired(entry: string, terms: PreviewTerms, run: PreviewSteps): Promise<void> {
  const now = run.request.clock.now();
  const others = run.previews.filter((each) => each.entry === entry && each.number !== run.own.number);
  for (const each of others) {
    if (isExpired(each.deployment.updated_at, terms, now) && !isRemoved(each, run)) await remove(each, 'expired', run);
  }
}

export async function removeEach(previews: readonly Preview[], code: PreviewEnd, run: PreviewSteps): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const each of previews) outcomes.push(await remove(each, code, run));
  const [worst = idle('')] = [...outcomes.filter(({ passes }) => !passes), ...outcomes];
  const own = run.removed.filter(({ pullRequest }) => pullRequest === run.own.number);
  return worst.passes ? { ...worst, kind: 'deleted', reason: removedWords(own, run.own.number ?? 0) } : worst;
}

/** Why a preview goes that would stay if it had changed. */
const datedCodes: ReadonlySet<PreviewEnd> = new Set(['expired', 'too-many']);

/** Whether a deployment was changed since the run began: by the run of a push, perhaps. */
async function hasChanged({ id, updated_at, latest_revision_id }: Deployment, { request }: PreviewSteps) {
  const { control, signal } = request;
  const read = await tryCall(control.getDeployment(id, { signal }));
  return !read.ok || read.value.updated_at !== updated_at || read.value.latest_revision_id !== latest_revision_id;
}

/** Deletes a preview; its mark is looked at again before. That of another pull request is not waited for. */
export async function remove(
  { deployment, number, entry }: Preview,
  code: PreviewEnd,
  run: PreviewSteps,
): Promise<Outcome> {
  const { request, removed, left } = run;
  const { repositoryId } = run.own;
  if (datedCodes.has(code) && (await hasChanged(deployment, run))) return idle('');
  const isOwn = number === run.own.number;
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

/** Whether a preview is gone, or about to be. */
export const isRemoved = ({ deployment }: Preview, { removed }: PreviewSteps): boolean =>
  isLeaving(deployment) || removed.some(({ name }) => name === deployment.name);
