import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { FileDeployment } from '../../src/deploy/file/read-desired.ts';
import type { DesiredDeployment } from '../../src/deploy/file/desired.ts';
import type { PreviewTerms } from '../../src/deploy/file/preview-fields.ts';
import {
  decidePreview,
  entryOf,
  isPreviewOf,
  previewName,
  previewOf,
  tooMany,
  type PreviewDecision,
  type PreviewKey,
  type PreviewOf,
} from '../../src/deploy/rules/preview.ts';
import type { PreviewPull, PreviewRefusal } from '../../src/deploy/rules/preview-source.ts';
import type { PullRequestState } from '../github/github-api.ts';
import type { GoneCode, Preview, PreviewedPull } from './preview.ts';
import type { PreviewRequest } from './preview-store.ts';

/** All that decides what a pull request requires of its previews. */
export interface PreviewsFacts {
  pull: PreviewedPull;
  /** The id of its repository in names and marks of previews, by `repositoryIdOn`. */
  hostedId: number;
  /** As GitHub has it now; undefined: there is no such pull request, or the App can't reach its repository. */
  state: PullRequestState | undefined;
  /** The deployments of the deploy file of the default branch; undefined: it was not read, so nothing is known of it. */
  entries: readonly FileDeployment[] | undefined;
  stored: readonly Preview[];
  /** The value of a variable that the file names for previews of this repository. */
  secretOf: (variable: string) => string | undefined;
  /** ms since the epoch */
  now: number;
}

/** What is to be done and said about one preview. */
export interface DecidedPreview {
  entry: string;
  decision:
    | Exclude<PreviewDecision, { kind: 'remove' | 'none' }>
    | { kind: 'remove'; code: GoneCode }
    /** Nothing is there, and nothing is to be. */
    | { kind: 'none' }
    | { kind: 'refuse'; refusal: PreviewRefusal }
    /** The file can't be read: what is there stays. */
    | { kind: 'unread' };
  /** What is stored of it. */
  request?: PreviewRequest;
}

/** Decides what a pull request requires of each of its previews, those of former versions of the file among them. */
export function decidePreviews(facts: PreviewsFacts): DecidedPreview[] {
  const { entries, pull, state } = facts;
  const stored = facts.stored.filter(({ entry }) => entry !== anyEntry);
  if (pull.isUnreachable || state === undefined || entries === undefined) {
    return stored.map((preview) => decideWithoutFile(preview, facts));
  }
  const unread = new Set(entries.flatMap((each) => (each.read.ok ? [] : [entryOf(each)])));
  const read = entries.flatMap(({ read: each }) => (each.ok ? [each.value] : []));
  const previewed = read.filter(({ preview }) => preview !== undefined);
  const known = new Set(previewed.map(({ desired }) => entryOf(desired)));
  return [
    ...previewed.map((deployment) => decideEntry(deployment, state, facts)),
    ...stored
      .filter(({ entry }) => !known.has(entry))
      .map((preview): DecidedPreview => {
        // A mistake in the file is no reason to remove what runs.
        if (unread.has(preview.entry)) return decideWithoutFile(preview, facts);
        return removed(preview, state.isOpen ? 'not-in-file' : 'closed', facts);
      }),
  ];
}

function decideWithoutFile(preview: Preview, facts: PreviewsFacts): DecidedPreview {
  const { pull, state, now } = facts;
  if (pull.isUnreachable) return removed(preview, 'unreachable', facts);
  if (!state?.isOpen) return removed(preview, 'closed', facts);
  const { wanted } = preview;
  return wanted.kind === 'deploy' && isOver(preview, wanted.terms, now)
    ? removed(preview, 'expired', facts)
    : { entry: preview.entry, decision: { kind: 'unread' } };
}

function removed(preview: Preview, code: GoneCode, { now }: Pick<PreviewsFacts, 'now'>): DecidedPreview {
  const { entry, wanted } = preview;
  // That one stays removed for its commit is forgotten once its pull request is closed.
  const isRemoved = wanted.kind === 'gone' && !(staysRemoved(wanted) && code === 'closed');
  if (isRemoved) return { entry, decision: { kind: 'none' } };
  return { entry, decision: { kind: 'remove', code }, request: removalOf(preview, code, now) };
}

/** What is stored of a preview that is to be removed. */
export const removalOf = (preview: Preview, code: GoneCode, at: number): PreviewRequest => ({
  key: keyOf(preview),
  name: preview.name,
  wanted: { kind: 'gone', code, commit: preview.wanted.commit, at },
});

/** The oldest previews of an entry that are too many with a new one; `all` has those that are wanted. */
export function evicted({ key, wanted }: PreviewRequest, all: readonly Preview[], now: number): PreviewRequest[] {
  if (wanted.kind !== 'deploy') return [];
  const others = all.filter(({ number }) => number !== key.number);
  const dated = others.map((preview) => ({
    preview,
    updated_at: new Date(preview.known.changedAt ?? 0).toISOString(),
  }));
  return tooMany(dated, wanted.terms).map(({ preview }) => removalOf(preview, 'too-many', now));
}

/**
 * The previews of an entry that are more than its file allowed when the newest one was wanted: two that were wanted at
 * once both count. @param wanted the oldest first
 */
export function beyondMax(wanted: readonly Preview[], now: number): PreviewRequest[] {
  const newest = wanted.at(-1)?.wanted;
  const max = newest?.kind === 'deploy' ? newest.terms.max : Infinity;
  return wanted.slice(0, Math.max(0, wanted.length - max)).map((preview) => removalOf(preview, 'too-many', now));
}

/** The preview that is wanted, with the values of its secrets; or why there can be none. */
export const previewWith = (
  { deployment, terms, pull }: Extract<Preview['wanted'], { kind: 'deploy' }>,
  secretOf: PreviewsFacts['secretOf'],
) => previewOf(deployment, terms, pull, secretOf);

/** The entry of what was left behind of a pull request: whichever previews it has. */
export const anyEntry = '';

/**
 * The key by which a deployment is one of a preview; undefined where it is none of it. On another host than github.com,
 * what was made before was marked with the number of the repository alone: it counts where it is known otherwise.
 */
export function ownKeyOf(
  deployment: Deployment,
  { repositoryId, number, entry, name, known }: Pick<Preview, 'name' | 'known'> & PreviewKey,
  hostedId: number,
): PreviewOf | undefined {
  const keyOn = (id: number): PreviewOf => ({ repositoryId: id, number, ...(entry === anyEntry ? {} : { entry }) });
  if (isPreviewOf(deployment, keyOn(hostedId))) return keyOn(hostedId);
  const isKnown = deployment.id === known.deploymentId || deployment.name === name;
  return isKnown && isPreviewOf(deployment, keyOn(repositoryId)) ? keyOn(repositoryId) : undefined;
}

const keyOf = ({ repositoryId, number, entry }: PreviewKey): PreviewKey => ({ repositoryId, number, entry });

function decideEntry(deployment: DesiredDeployment, state: PullRequestState, facts: PreviewsFacts): DecidedPreview {
  const { pull, stored, now, secretOf } = facts;
  const { preview: terms, ...own } = deployment;
  const entry = entryOf(own.desired);
  const key: PreviewKey = { repositoryId: pull.repositoryId, number: pull.number, entry };
  const preview = stored.find((each) => each.entry === entry);
  // An image or a folder is made by a workflow, and so is its preview: the App only removes what that leaves behind.
  if (!terms || own.desired.source !== 'github') {
    return preview
      ? removed(preview, state.isOpen ? 'not-in-file' : 'closed', facts)
      : { entry, decision: { kind: 'none' } };
  }
  if (preview?.wanted.kind === 'gone' && !state.isOpen) return removed(preview, 'closed', facts);
  if (preview?.wanted.kind === 'gone' && staysGone(preview.wanted, state, facts)) {
    return { entry, decision: { kind: 'none' } };
  }
  const wanted = preview?.wanted.kind === 'deploy' ? preview.wanted : undefined;
  const decision = decidePreview({
    terms,
    pull: state,
    approvedSha: pull.approval?.commit,
    isRequested: pull.approval !== undefined,
    existing: preview && wanted && { commit: wanted.commit, isExpired: isOver(preview, terms, now) },
  });
  if (decision.kind === 'none') return { entry, decision: { kind: 'none' } };
  if (decision.kind === 'remove') {
    return preview ? removed(preview, decision.code, facts) : { entry, decision: { kind: 'none' } };
  }
  const isRequestedAgain =
    pull.approval?.commit === state.headSha &&
    pull.approval.at > (wanted?.requestedAt ?? preview?.known.changedAt ?? 0);
  if (decision.kind !== 'create' && decision.kind !== 'update' && !(decision.kind === 'keep' && isRequestedAgain)) {
    return { entry, decision };
  }
  const head = headOf(pull, state, facts.hostedId);
  const made = previewOf(own, terms, head, secretOf);
  if (made.kind === 'refused') return { entry, decision: { kind: 'refuse', refusal: made.refusal } };
  return {
    entry,
    decision: decision.kind === 'keep' ? { kind: 'update' } : decision,
    request: {
      key,
      name: previewName({ ...key, repositoryId: facts.hostedId }, terms.name),
      wanted: {
        kind: 'deploy',
        commit: state.headSha,
        pull: head,
        deployment: own,
        terms,
        ...(pull.approval?.commit === state.headSha ? { requestedAt: pull.approval.at } : {}),
      },
      known: { changedAt: now, goneAt: null, failures: 0 },
    },
  };
}

/** A preview that expired, or made room for others, stays removed for this commit until a person requests it. */
function staysGone({ code, commit, at }: StoredGone, { headSha }: PullRequestState, { pull }: PreviewsFacts): boolean {
  if (!staysRemoved({ code })) return false;
  return commit === headSha && !(pull.approval?.commit === headSha && pull.approval.at > at);
}

const staysRemoved = ({ code }: Pick<StoredGone, 'code'>): boolean => code === 'expired' || code === 'too-many';

type StoredGone = Extract<Preview['wanted'], { kind: 'gone' }>;

const isOver = ({ known }: Preview, { expiresAfterMs }: PreviewTerms, now: number): boolean =>
  known.changedAt !== undefined && now >= known.changedAt + expiresAfterMs;

const headOf = (pull: PreviewedPull, state: PullRequestState, hostedId: number): PreviewPull => ({
  repositoryId: hostedId,
  number: pull.number,
  repositoryUrl: state.repositoryUrl,
  headUrl: state.headUrl,
  headRef: state.headRef,
  isFork: state.isFork,
});
