import type { Coded } from '../../kit/coded.ts';
import { readRepoRef } from '../../contract/control/repo-ref.ts';
import type { ResourceSpec } from '../../contract/control/resource-spec.ts';
import type { Desired } from '../file/desired.ts';
import type { PreviewTerms } from '../file/preview-fields.ts';
import { sameRepository } from '../file/repository-url.ts';
import type { SecretName } from '../file/secret-names.ts';

/** The pull request whose head is deployed. */
export interface PreviewPull {
  repositoryId: number;
  number: number;
  /** The web address of the repository that it is to. */
  repositoryUrl: string;
  /** That of its head, which is another one for a fork; absent: it was deleted. */
  headUrl?: string | undefined;
  /** The plain name of the head's branch. */
  headRef: string;
  isFork: boolean;
  /** The image that the workflow built from its head. */
  imageUri?: string | undefined;
}

/** Why a pull request can't have a preview of a deployment. */
export interface PreviewRefusalFacts {
  /** The fork was deleted. */
  'head-gone': unknown;
  /** The branch's name means something else as a ref. */
  'head-ref': { ref: string };
  /** The deployment is built from another repository than the pull request's. */
  'other-repository': { repoUrl: string };
  /** It runs an image, and the workflow gives none of the head. */
  'image-missing': unknown;
  /** The host has no value for secrets of `preview`. */
  'secret-missing': { names: readonly SecretName[]; field: 'secrets' | 'fork-secrets' };
}
export type PreviewRefusal = Coded<PreviewRefusalFacts>;

type SourceFields<Each> = Each extends unknown
  ? Omit<Each, 'name' | 'secrets' | 'secretsStrategy' | 'deploymentId'>
  : never;

/** Without what a preview has of its own. */
function withoutIdentity<Each extends Desired>(
  desired: Each,
): Omit<Each, 'name' | 'secrets' | 'secretsStrategy' | 'deploymentId'> {
  const { name: _, deploymentId: _id, secrets: _secrets, secretsStrategy: _strategy, ...kept } = desired;
  return kept;
}

/** What is built or run, and where. What could be production's own is left out: addresses, secrets, other resources. */
export function previewSourceOf(
  desired: Desired,
  terms: PreviewTerms,
  pull: PreviewPull,
): SourceFields<Desired> | PreviewRefusal {
  // Each push is to be seen, whatever the deployment says.
  const rebuild = 'auto';
  switch (desired.source) {
    case 'github': {
      const head = headOf(desired.repoUrl, pull);
      return 'code' in head
        ? head
        : { ...withoutIdentity(desired), ...head, deploymentType: 'dev', buildOnPush: false, rebuild };
    }
    case 'internal_source':
      return { ...withoutIdentity(desired), deploymentType: 'dev', rebuild };
    case 'external_docker': {
      const { customUrl: _url, secretReferences: _references, resourceSpec = {}, ...kept } = withoutIdentity(desired);
      const { imageUri } = pull;
      if (imageUri === undefined) return { code: 'image-missing' };
      return { ...kept, imageUri, rebuild, resourceSpec: smallest(resourceSpec, terms.resourceSpec ?? {}) };
    }
    case 'internal_docker': {
      const { imageUri } = pull;
      return imageUri === undefined ? { code: 'image-missing' } : { ...withoutIdentity(desired), imageUri, rebuild };
    }
  }
}

/** The head of a pull request as a source. A fork is built from its own repository, where the service reaches it. */
function headOf(
  repoUrl: string | undefined,
  { repositoryUrl, headUrl, headRef, isFork }: PreviewPull,
): { repoUrl: string; repoRef: string } | PreviewRefusal {
  if (repoUrl !== undefined && !sameRepository(repoUrl, repositoryUrl)) return { code: 'other-repository', repoUrl };
  if (headUrl === undefined) return { code: 'head-gone' };
  const read = readRepoRef(headRef);
  if (!read.ok || read.ref !== headRef || headRef.startsWith('refs/')) return { code: 'head-ref', ref: headRef };
  return { repoUrl: isFork ? headUrl : (repoUrl ?? repositoryUrl), repoRef: headRef };
}

/** What of an entry's resources a preview needs to run at all; everything else may belong to production. */
const sizes = [
  'cpu',
  'cpu_limit',
  'memory_mb',
  'memory_limit_mb',
  'queue_cpu',
  'queue_cpu_limit',
  'queue_memory_mb',
  'queue_memory_limit_mb',
  'image_pull_secrets',
] as const;

/** One replica, which a service that can may end while it is idle. What the file says of previews is laid over it. */
function smallest(entry: ResourceSpec, own: ResourceSpec): ResourceSpec {
  const size: ResourceSpec = Object.fromEntries(
    sizes.flatMap((field) => (entry[field] == null ? [] : [[field, entry[field]]])),
  );
  const least = own.min_scale ?? 0;
  return { ...size, min_scale: least, max_scale: Math.max(1, least), ...own };
}
