import { say, type Sayings } from '../../src/kit/coded.ts';
import type { PreviewRefusal, PreviewRefusalFacts } from '../../src/deploy/rules/preview-source.ts';
import type { GoneCode } from './preview.ts';

/** Why a preview is removed, as a clause. */
const removals: Readonly<Record<GoneCode, string>> = {
  closed: 'the pull request is closed',
  unlabeled: 'the pull request does not have the label any more',
  'not-in-file': 'the deploy file of the default branch has no preview of this deployment',
  expired: 'nothing changed for as long as `expires-after` says; push a commit, or comment `/preview`, to get it again',
  'too-many': 'newer previews took its place, as `max` says; push a commit, or comment `/preview`, to get it again',
  unreachable: 'the App can not reach the repository any more',
};

/** Why a preview is removed: a clause in Markdown of ours alone. */
export const removalWords = (code: GoneCode): string => removals[code];

const refusals: Sayings<PreviewRefusalFacts> = {
  'head-gone': () => 'The fork of this pull request was deleted. Push its commits to a branch that is there.',
  'head-ref': ({ ref }) => `The branch ${ref} can't be built under this name. Give the branch a plain name.`,
  'other-repository': ({ repoUrl }) =>
    `The deployment is built from ${repoUrl}, not from this repository. Add its preview there.`,
  'image-missing': () =>
    'The deployment runs an image, which the App does not build. Make its previews with `mode: preview` of the Action.',
  'secret-missing': ({ names, field }) =>
    `The operator of the App has no value for ${names.map(({ from }) => from).join(', ')} of preview.${field}. ` +
    'Add it to the file that LANDFALL_PREVIEW_SECRETS names, or remove it from the deploy file.',
};

/** Why a pull request can't have a preview: sentences with text of others. */
export const refusalWords = (refusal: PreviewRefusal): string => say(refusals, refusal);

/** Why there is no preview of a deployment, whatever its pull request is. Nothing of another's deployment is shown. */
export const productionRefusals = {
  absent:
    'The service has no deployment of this entry yet, so there is nothing that this could be a preview of. Deploy it once, and push again or comment /preview.',
  foreign:
    'The deployment of this entry is not of this repository, and the operator of the App did not bind it. Name one of this repository.',
  unlisted:
    'This service does not list the secrets of deployments, so a preview could not be told from another deployment. Make previews on a service that does.',
} as const;
