import { sameCommit } from '../../contract/control/repo-ref.ts';
import { withoutTrailingSlashes } from '../../kit/plain-text.ts';
import type { Coded } from '../../kit/coded.ts';
import type { Obstacle } from './plan-types.ts';
import { sameRepository } from '../file/repository-url.ts';
import type { Workflow } from '../file/workflow.ts';

/** The requested commit, or why it is unknown. */
export type RequestedCommit =
  | {
      kind: 'known';
      sha: string;
      /** The commit of the workflow, where the ref has moved on from it. */
      insteadOf?: string;
      /**
       * No other commit may be deployed. The service is told to build it, or would build `head`, where that is known.
       */
      only?: { isPinned: true } | { isPinned: false; head: string | undefined };
    }
  | { kind: 'unknown'; because: UnknownCommit };

/** Why the requested commit is not known. */
export interface UnknownCommitFacts extends Record<'folder' | 'image' | 'ref-unreported' | 'no-workflow', unknown> {
  /** The workflow runs on something that is not what is deployed. */
  'other-workflow': { ref: string; repository: string };
}
export type UnknownCommit = Coded<UnknownCommitFacts>;

/** What is to be built, and who might know its commit. */
export interface CommitQuestion {
  repoUrl: string | undefined;
  /** In the document's spelling: a plain branch name, or `refs/tags/...`. */
  repoRef: string | undefined;
  workflow: Workflow | undefined;
  /** The head of `repoRef`, if it was looked up. */
  head: string | undefined;
  /** The one commit that may be deployed, if the person named one. */
  commit?: string | undefined;
  /** The service builds the commit that it is told, whatever the head is. */
  pinsCommits?: boolean | undefined;
}

/**
 * The commit that a build of `repoRef` uses: the given head of the ref, for the service builds nothing else, else the
 * workflow's own if it runs on that repository and branch (on a pull request the head of its branch, never the merge).
 */
export function determineCommit({
  repoUrl,
  repoRef,
  workflow,
  head,
  commit,
  pinsCommits = false,
}: CommitQuestion): RequestedCommit {
  if (commit) {
    const isPinned = pinsCommits && /^[0-9a-f]{40}$/i.test(commit);
    return { kind: 'known', sha: commit, only: isPinned ? { isPinned } : { isPinned, head } };
  }
  if (repoUrl === undefined || repoRef === undefined) {
    return { kind: 'unknown', because: { code: 'ref-unreported' } };
  }
  const own = workflow && commitOfWorkflow(workflow, repoUrl, repoRef);
  if (head) {
    const insteadOf = own === undefined || sameCommit(own, head) ? {} : { insteadOf: own };
    return { kind: 'known', sha: head, ...insteadOf };
  }
  if (own) return { kind: 'known', sha: own };
  if (!workflow) return { kind: 'unknown', because: { code: 'no-workflow' } };
  const { headRef, ref, repository } = workflow;
  return { kind: 'unknown', because: { code: 'other-workflow', ref: headRef ?? ref, repository } };
}

function commitOfWorkflow(workflow: Workflow, repoUrl: string, repoRef: string): string | undefined {
  const { repository, serverUrl, ref, sha, headRef, headSha, headRepository } = workflow;
  const isDeployed = (name: string) => sameRepository(`${withoutTrailingSlashes(serverUrl)}/${name}`, repoUrl);
  if (headSha && headRef === repoRef && headRepository && isDeployed(headRepository)) return headSha;
  const isRef = ref === repoRef || ref === `refs/heads/${repoRef}`;
  return isRef && isDeployed(repository) ? sha : undefined;
}

/** What stands in the way of a build where only one commit may be deployed. */
export function otherCommitObstacles(commit: RequestedCommit): Obstacle[] {
  if (commit.kind === 'unknown' || !commit.only || commit.only.isPinned) return [];
  if (sameCommit(commit.only.head, commit.sha)) return [];
  return [{ field: 'commit', code: 'other-commit', commit: commit.sha, head: commit.only.head }];
}

/** The commit that the service is told to build, instead of the head of the ref. */
export const pinnedCommit = (commit: RequestedCommit | undefined): string | undefined =>
  commit?.kind === 'known' && commit.only?.isPinned ? commit.sha : undefined;

/** Whether a revision was built from another commit than the only one that may be deployed. */
export const isOtherCommit = (commit: RequestedCommit | undefined, built: string | null | undefined): boolean =>
  commit?.kind === 'known' && commit.only !== undefined && Boolean(built) && !sameCommit(built, commit.sha);
