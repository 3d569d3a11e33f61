import { createHash } from 'node:crypto';
import { maxDeploymentNameLength, previewMark } from '../../contract/control/field-values.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import { shownValue, type Secret, type SecretReply } from '../../contract/control/secret.ts';
import type { Desired, DesiredDeployment, Named } from '../file/desired.ts';
import type { PreviewTerms } from '../file/preview-fields.ts';
import { previewSourceOf, type PreviewPull, type PreviewRefusal } from './preview-source.ts';

/** Identifies a preview: it does not change with the branch, the base or the title of its pull request. */
export interface PreviewKey {
  /** GitHub's id of the repository that the pull request is to. It stays when the repository is renamed. */
  repositoryId: number;
  /** The number of the pull request. */
  number: number;
  /** The deployment of the file, by `entryOf`. */
  entry: string;
}

/** Numbers below are those of GitHub itself. */
const leastOfOtherHosts = 10 ** 12;

/**
 * The id of a repository for its previews. Hosts other than GitHub count their repositories anew, so that theirs are
 * made of the host and the number.
 */
export function repositoryIdOn(serverUrl: string, id: number): number {
  const { protocol, host } = URL.parse(serverUrl) ?? { protocol: '', host: '' };
  if (!protocol.startsWith('http') || host === 'github.com') return id;
  const digits = createHash('sha256').update(`${host}/${id}`).digest('hex').slice(0, 11);
  return leastOfOtherHosts + Number.parseInt(digits, 16);
}

/** A preview whose entry may be unknown: the service hides its mark. */
export type PreviewOf = Omit<PreviewKey, 'entry'> & { entry?: string | undefined };

/** What a deployment of the file is called in the keys of its previews. */
export const entryOf = ({ name, deploymentId }: Named): string => name ?? deploymentId ?? '';

/** Enough that no two repositories and no two entries of one have the same. */
const digestLength = 8;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, digestLength);

const endOfName = ({ repositoryId, number, entry }: PreviewKey): string =>
  `-pr-${number}${nameOfPreviews(repositoryId)}${digest(`${repositoryId}/${entry}`)}`;

/**
 * The name of a preview's deployment: it begins with the entry's name, or with `base`, and names the pull request. The
 * digests at its end keep it apart from those of other repositories and of other entries with the same beginning.
 */
export function previewName(key: PreviewKey, base: string = key.entry): string {
  const end = endOfName(key);
  const start = base
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxDeploymentNameLength - end.length)
    .replace(/-$/, '');
  return start === '' ? `preview${end}` : `${start}${end}`;
}

/** What the names of a repository's previews have in common, to find them in a list: what it finds need not be ours. */
export const nameOfPreviews = (repositoryId: number): string => `-${digest(String(repositoryId))}`;

export const isNamedLikePreview = (name: string, repositoryId: number): boolean =>
  new RegExp(`-pr-[1-9][0-9]*${nameOfPreviews(repositoryId)}[0-9a-f]{${digestLength}}$`).test(name);

/** What a preview's secret `LANDFALL_PREVIEW` says. */
export const markOf = ({ repositoryId, number, entry }: PreviewKey): string => `${repositoryId}/${number}/${entry}`;

interface Marked {
  name: string;
  secrets?: readonly SecretReply[] | null | undefined;
}

/** Whose preview a deployment is; undefined where it is none, or where the service hides its mark. */
export function previewKeyOf({ secrets }: Pick<Marked, 'secrets'>): PreviewKey | undefined {
  const mark = secrets?.find(({ name }) => name === previewMark);
  const [, repositoryId, number, entry] =
    /^(\d{1,15})\/(\d{1,10})\/(.+)$/s.exec((mark && shownValue(mark)) ?? '') ?? [];
  if (entry === undefined) return undefined;
  return { repositoryId: Number(repositoryId), number: Number(number), entry };
}

/**
 * Whether a deployment is a preview of this repository: no other one may be changed or removed as one. Where the service
 * hides the values of secrets, its name has to stand for the mark's value.
 */
export function ownsPreview({ name, secrets }: Marked, repositoryId: number): boolean {
  const mark = secrets?.find((each) => each.name === previewMark);
  if (!mark) return false;
  if (shownValue(mark) === undefined) return isNamedLikePreview(name, repositoryId);
  return previewKeyOf({ secrets })?.repositoryId === repositoryId;
}

/** The number of the pull request that a preview's name says. */
export function numberInName(name: string): number | undefined {
  const number = /-pr-([1-9]\d{0,9})-[0-9a-f]+$/.exec(name)?.[1];
  return number === undefined ? undefined : Number(number);
}

/**
 * Whether a deployment is the preview of this key, or one of its pull request where the key has no entry. A hidden mark
 * is known by the name, which holds its digests.
 */
export function isPreviewOf(deployment: Marked, { entry, ...of }: PreviewOf): boolean {
  if (entry === undefined) {
    const isOwn = ownsPreview(deployment, of.repositoryId);
    return isOwn && (previewKeyOf(deployment)?.number ?? numberInName(deployment.name)) === of.number;
  }
  const key = { ...of, entry };
  const mark = deployment.secrets?.find(({ name }) => name === previewMark);
  if (!mark) return false;
  const value = shownValue(mark);
  return value === undefined ? deployment.name.endsWith(endOfName(key)) : value === markOf(key);
}

type PreviewResult = { kind: 'preview'; deployment: DesiredDeployment } | { kind: 'refused'; refusal: PreviewRefusal };

/**
 * The preview that a pull request gets of a deployment: nothing of it reaches production, and nothing of production
 * reaches it but what the file names for previews.
 *
 * @param valueOf the value that a host has for a variable of `preview.secrets` or `preview.fork-secrets`
 */
export function previewOf(
  deployment: DesiredDeployment,
  terms: PreviewTerms,
  pull: PreviewPull,
  valueOf: (variable: string) => string | undefined,
): PreviewResult {
  const source = previewSourceOf(deployment.desired, terms, pull);
  if ('code' in source) return { kind: 'refused', refusal: source };
  const secrets = secretsOf(terms, pull, valueOf);
  if ('code' in secrets) return { kind: 'refused', refusal: secrets };
  const key = { ...pull, entry: entryOf(deployment.desired) };
  const desired: Desired = {
    ...source,
    name: previewName(key, terms.name),
    secrets: [...secrets, { name: previewMark, value: markOf(key) }],
    secretsStrategy: 'overwrite',
  };
  const { notes, smokeTests } = deployment;
  return {
    kind: 'preview',
    deployment: {
      desired,
      smokeTests: terms.smokeTests ?? smokeTests,
      // Texts of people are not for the code of a stranger.
      ...(terms.conversations && !pull.isFork ? { conversations: terms.conversations } : {}),
      // The newest commit is what people look at, also where its tests fail.
      verify: 'after-traffic',
      onFailure: 'keep',
      onUnproven: 'keep',
      ...(notes ? { notes } : {}),
    },
  };
}

function secretsOf(
  terms: PreviewTerms,
  { isFork }: PreviewPull,
  valueOf: (variable: string) => string | undefined,
): Secret[] | PreviewRefusal {
  const names = isFork ? terms.forkSecrets : terms.secrets;
  const secrets = names.map(({ name, from }) => ({ name, value: valueOf(from) ?? '' }));
  const missing = names.filter((_, index) => secrets[index]?.value === '');
  return missing.length > 0
    ? { code: 'secret-missing', names: missing, field: isFork ? 'fork-secrets' : 'secrets' }
    : secrets;
}

/** What is known of a pull request and of its preview. */
export interface PreviewFacts {
  /** Absent: the file has no such entry, or it has no previews. */
  terms: PreviewTerms | undefined;
  pull: {
    isOpen: boolean;
    labels: readonly string[];
    headSha: string;
    isFork: boolean;
  };
  /** The commit that a person with write access approved: a fork's preview is of no other. */
  approvedSha?: string | undefined;
  /** Whether a person requested a preview of this pull request. */
  isRequested?: boolean;
  /** Its deployment, which carries our mark. */
  existing?:
    { /** The commit that it was last deployed for. */ commit?: string | undefined; isExpired: boolean } | undefined;
}

/** Why a preview is removed. */
export type RemovalCode = 'closed' | 'unlabeled' | 'not-in-file' | 'expired' | 'too-many';

/** What a pull request requires of its preview. */
export type PreviewDecision =
  | { kind: 'create' }
  | { kind: 'update' }
  | { kind: 'keep' }
  | { kind: 'remove'; code: RemovalCode }
  /** A preview of an earlier commit stays meanwhile. */
  | { kind: 'wait'; code: 'command' | 'approval'; sha: string }
  | { kind: 'none'; code: Exclude<RemovalCode, 'expired' | 'too-many'> };

/** Decides what a pull request requires of its preview. What ends one comes before all else. */
export function decidePreview({ terms, pull, approvedSha, isRequested, existing }: PreviewFacts): PreviewDecision {
  const end = endOf(terms, pull);
  if (end) return existing ? { kind: 'remove', code: end } : { kind: 'none', code: end };
  const sha = pull.headSha;
  const isCurrent = existing?.commit !== undefined && sameSha(existing.commit, sha);
  if (isCurrent && existing.isExpired) return { kind: 'remove', code: 'expired' };
  if (isCurrent) return { kind: 'keep' };
  if (pull.isFork && !(approvedSha !== undefined && sameSha(approvedSha, sha))) {
    return existing?.isExpired ? { kind: 'remove', code: 'expired' } : { kind: 'wait', code: 'approval', sha };
  }
  const isWanted = terms?.when !== 'command' || isRequested || existing !== undefined || approvedSha !== undefined;
  if (!isWanted) return { kind: 'wait', code: 'command', sha };
  return { kind: existing ? 'update' : 'create' };
}

function endOf(terms: PreviewTerms | undefined, { isOpen, labels }: PreviewFacts['pull']) {
  if (!isOpen) return 'closed';
  if (!terms) return 'not-in-file';
  const { when } = terms;
  return typeof when === 'object' && !labels.some((each) => sameLabel(each, when.label)) ? 'unlabeled' : undefined;
}

/** What is approved is one commit: an abbreviated one could be made to fit another. */
const sameSha = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** GitHub's labels differ in more than case. */
const sameLabel = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether a preview is over that changed last at `updatedAt` (ISO 8601). One whose time is not known stays. */
export function isExpired(
  updatedAt: string,
  { expiresAfterMs }: Pick<PreviewTerms, 'expiresAfterMs'>,
  now: number,
): boolean {
  const at = expiryOf(updatedAt, { expiresAfterMs });
  return at !== undefined && now >= at;
}

/** When a preview expires (ms since the epoch) that changed last at `updatedAt`. */
export function expiryOf(
  updatedAt: string,
  { expiresAfterMs }: Pick<PreviewTerms, 'expiresAfterMs'>,
): number | undefined {
  const changed = Date.parse(updatedAt);
  return Number.isNaN(changed) ? undefined : changed + expiresAfterMs;
}

/** The previews of an entry that are too many, the oldest first; `newest` is about to be created and counts as one. */
export function tooMany<Each extends Pick<Deployment, 'updated_at'>>(
  others: readonly Each[],
  { max }: Pick<PreviewTerms, 'max'>,
): Each[] {
  const oldestFirst = others.toSorted((one, other) => Date.parse(one.updated_at) - Date.parse(other.updated_at));
  return oldestFirst.slice(0, Math.max(0, others.length + 1 - max));
}
