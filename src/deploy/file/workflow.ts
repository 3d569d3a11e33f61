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
