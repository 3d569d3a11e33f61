import { say, type Sayings } from '../../kit/coded.ts';
import { asSentence, capitalized } from '../../kit/plain-text.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import { shownName } from '../file/shown-name.ts';
import { shownRepository } from '../file/repository-url.ts';
import type { Outcome, PreviewEnd, RemovedPreview } from '../machine/outcome-types.ts';
import type { PreviewRefusal, PreviewRefusalFacts } from '../rules/preview-source.ts';
import type { PreviewDecision } from '../rules/preview.ts';
import { adviceOn } from './advice-on-errors.ts';
import { asCode } from './sanitize.ts';

/** What is said, and what to do about it. */
interface Said {
  reason: string;
  advice: string;
}

const refusals: Sayings<PreviewRefusalFacts, Said> = {
  'head-gone': () => ({
    reason: 'The repository that this pull request comes from was deleted, so its commit cannot be built.',
    advice: 'Push the branch to this repository, or upload a folder (source: internal_source).',
  }),
  'head-ref': ({ ref }) => ({
    reason: `The branch of this pull request is named ${ref}, which the service would read as another ref.`,
    advice: 'Rename the branch.',
  }),
  'other-repository': ({ repoUrl }) => ({
    reason: `The deployment is built from ${shownRepository(repoUrl)}, which is not the repository of this pull request.`,
    advice: 'Preview it from pull requests of that repository, or upload a folder (source: internal_source).',
  }),
  'image-missing': () => ({
    reason: 'The deployment runs an image, and none was built from this pull request.',
    advice: 'Build the image in a step before, and give it as image-uri.',
  }),
  'secret-missing': ({ names, field }) => ({
    reason: `\`preview.${field}\` names secrets without a value: ${names.map(({ from }) => shownName(from)).join(', ')}.`,
    advice: 'Give each variable a value (in a workflow by `env:` of the step), or remove it from the deploy file.',
  }),
};

/** Why there are no previews on a service that says nothing of secrets. */
export const marksHiddenWords: Said = {
  reason:
    'This service does not show the names of secrets, so a preview could not be told from other deployments later.',
  advice: 'Deploy under a name of its own for each pull request, and delete it when that closes.',
};

/** Why a pull request gets no preview, and what to do about it. */
export const refusalWords = (refusal: PreviewRefusal): Said => say(refusals, refusal);

const ends: Record<PreviewEnd, string> = {
  closed: 'the pull request was closed',
  unlabeled: 'the pull request no longer has the label',
  'not-in-file': 'the deploy file no longer has previews of this deployment',
  expired: 'its time was over',
  'too-many': 'newer previews took its place (`max`)',
  renamed: 'it has another name now',
};

/** Why a preview was removed, as a clause. */
export const previewEndWords = (code: PreviewEnd): string => ends[code];

/** What a pull request has no preview for, or what it waits for. */
export function idleWords(
  decision: Extract<PreviewDecision, { kind: 'wait' | 'none' }> | { kind: 'outdated' | 'reopened' },
  { number, entry, headSha }: { number: number; entry: string; headSha: string },
): { reason: string; advice?: string } {
  const pull = `pull request ${number}`;
  const commit = shortCommit(headSha);
  switch (decision.kind) {
    case 'outdated':
      return { reason: `Commit ${commit} is no longer the head of ${pull}: the run of the newer one deploys it.` };
    case 'reopened':
      return { reason: `It is open again: the run that reopened ${pull} deploys it.` };
    case 'wait':
      return decision.code === 'approval'
        ? {
            reason: `It comes from a fork, and nobody approved commit ${commit}: nothing of ${pull} was built or run.`,
            advice: `Read the commit, then run the workflow with approved-commit: ${headSha} (landfall preview has --approved-commit).`,
          }
        : {
            reason: `The deploy file has previews of ${entry} on command, and nobody requested one of ${pull}.`,
            advice: 'Run the workflow by hand with the number of the pull request.',
          };
    case 'none':
      if (decision.code === 'closed') return { reason: `There was no preview of ${pull} to remove: it is closed.` };
      return decision.code === 'unlabeled'
        ? { reason: `The deploy file has previews by a label, and ${pull} does not have it.` }
        : {
            reason: `The deploy file has no \`preview\` of ${entry}.`,
            advice: 'Add `preview: true` to this deployment to have previews of it.',
          };
  }
}

/** The outcome of a run about previews in which the service failed before anything was deployed. */
export const previewFailure = (error: ServiceError, removed: readonly RemovedPreview[]): Outcome => ({
  kind: 'failed',
  passes: false,
  reason: withRemoved(asSentence(error.message), removed),
  advice: adviceOn(error, 'run'),
  changed: removed.length > 0,
  notes: [],
});

/** The outcome of a cancelled one. */
export const previewInterrupted = (removed: readonly RemovedPreview[]): Outcome => ({
  kind: 'interrupted',
  passes: false,
  reason: withRemoved('This step was ended before anything was deployed.', removed),
  advice: 'Run it again: a preview that is there is followed, not made twice.',
  changed: removed.length > 0,
  notes: [],
});

const withRemoved = (reason: string, removed: readonly RemovedPreview[]): string =>
  removed.length === 0 ? reason : `${reason} ${listOfRemoved(removed)}`;

/** What is noted of a preview that could not be removed. */
export const notRemovedNote = (name: string, why: string): string => `preview ${name} was not removed: ${why}`;

/** What a run that is about no pull request removed, as a sentence. */
export const sweptWords = (removed: readonly RemovedPreview[]): string =>
  removed.length === 0 ? 'No preview was left of a closed pull request or beyond its time.' : listOfRemoved(removed);

/** What was removed, as a sentence. */
export const removedWords = (removed: readonly RemovedPreview[], number: number): string =>
  removed.length === 0 ? `Pull request ${number} has no preview: there was nothing to remove.` : listOfRemoved(removed);

function listOfRemoved(removed: readonly RemovedPreview[]): string {
  const names = removed.map(({ name, code }) => `${name} (${ends[code]})`).join(', ');
  return `${removed.length === 1 ? 'A preview was' : `${removed.length} previews were`} removed: ${names}.`;
}

/** The comment on a pull request whose preview was removed. */
export const removedComment = ({ entry, code }: RemovedPreview): string =>
  [`## Preview${entry === undefined ? '' : ` of ${asCode(entry)}`}: removed`, capitalized(asSentence(ends[code]))].join(
    '\n\n',
  );
