import { withoutTrailingSlashes } from '../../kit/plain-text.ts';
import type { Obstacle } from './plan-types.ts';
import { sameRepository } from './repository-url.ts';

/** The current workflow run, from its environment. */
export interface Workflow {
  /** `owner/name` */
  repository: string;
  /** The web address that `repository` lies below, for example `https://github.com`. */
  serverUrl: string;
  /** What the run is of: `refs/heads/...`, `refs/tags/...`, `refs/pull/.../merge`, a plain branch, or empty. */
  ref: string;
  /** The commit of `ref`: on a pull request a merge that exists nowhere else. */
  sha: string;
  /** On a pull request: the plain name of its head's branch. */
  headRef?: string;
  /** On a pull request: the newest commit of its head. */
  headSha?: string;
  /**
   * On a pull request: `owner/name` of the head's repository. A fork may have a branch of the same name, so without it
   * the head is ignored.
   */
  headRepository?: string;
  /** The number of the pull request, where it is known. */
  pullRequest?: number;
  /** The page of the run. */
  runUrl?: string;
}

/** The requested commit, or why it is unknown. */
export type RequestedCommit =
  | {
      kind: 'known';
      sha: string;
      /** Where it is known from, in words. */
      from: string;
      /** The commit of the workflow, where the ref has moved on from it. */
      insteadOf?: string;
      /** No other commit may be deployed; the service would build `head`, where that is known. */
      only?: { head: string | undefined };
    }
  | { kind: 'unknown'; /** One clause, without a full stop. */ why: string };

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
}

/**
 * The commit that a build of `repoRef` uses: the given head of the ref, for the service builds nothing else, else the
 * workflow's own if it runs on that repository and branch (on a pull request the head of its branch, never the merge).
 */
export function determineCommit({ repoUrl, repoRef, workflow, head, commit }: CommitQuestion): RequestedCommit {
  if (commit) return { kind: 'known', sha: commit, from: 'the input commit', only: { head } };
  if (repoUrl === undefined || repoRef === undefined) {
    return { kind: 'unknown', why: 'the service does not report which repository and ref it builds' };
  }
  const own = workflow && commitOfWorkflow(workflow, repoUrl, repoRef);
  if (head) {
    const insteadOf = own === undefined || sameCommit(own, head) ? {} : { insteadOf: own };
    return { kind: 'known', sha: head, from: `the head of ${repoRef}`, ...insteadOf };
  }
  if (own) return { kind: 'known', sha: own, from: 'this workflow' };
  return {
    kind: 'unknown',
    why: workflow
      ? `this workflow runs on ${workflow.headRef ?? workflow.ref} of ${workflow.repository}, which is not what is deployed`
      : 'no workflow says which commit it runs on',
  };
}

function commitOfWorkflow(workflow: Workflow, repoUrl: string, repoRef: string): string | undefined {
  const { repository, serverUrl, ref, sha, headRef, headSha, headRepository } = workflow;
  const isDeployed = (name: string) => sameRepository(`${withoutTrailingSlashes(serverUrl)}/${name}`, repoUrl);
  if (headSha && headRef === repoRef && headRepository && isDeployed(headRepository)) return headSha;
  const isRef = ref === repoRef || ref === `refs/heads/${repoRef}`;
  return isRef && isDeployed(repository) ? sha : undefined;
}

/** Whether two commits are equal: ignores case, and accepts an abbreviated SHA. */
export function sameCommit(one: string | null | undefined, other: string | null | undefined): boolean {
  if (!one || !other) return false;
  const [short = '', long = ''] = [one.toLowerCase(), other.toLowerCase()].toSorted((a, b) => a.length - b.length);
  return short.length >= 7 && long.startsWith(short);
}

/** A commit as people say it. */
export const shortCommit = (sha: string): string => sha.slice(0, 7);

/** What stands in the way of a build where only one commit may be deployed. */
export function otherCommitObstacles(commit: RequestedCommit): Obstacle[] {
  if (commit.kind === 'unknown' || !commit.only || sameCommit(commit.only.head, commit.sha)) return [];
  const { head } = commit.only;
  const problem = head
    ? `${shortCommit(commit.sha)} would have to be built, and the service builds the head of the ref, which is ${shortCommit(head)}`
    : `${shortCommit(commit.sha)} would have to be built, and it is not known here whether it is the head of the ref`;
  const advice = head
    ? 'Set repo-ref to a branch or a tag of this commit, or remove commit.'
    : 'Give github-token, or check out the repository before this step.';
  return [{ field: 'commit', problem, advice }];
}

/** Whether a revision was built from another commit than the only one that may be deployed. */
export const isOtherCommit = (commit: RequestedCommit | undefined, built: string | null | undefined): boolean =>
  commit?.kind === 'known' && commit.only !== undefined && Boolean(built) && !sameCommit(built, commit.sha);
