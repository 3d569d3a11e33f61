import { repositoryParameters } from '../../github/client.ts';
import type { CommandGitHub } from './github-reads.ts';

/** The pull request that a command is about, as it is now. */
export interface CommandPull {
  number: number;
  isOpen: boolean;
  isMerged: boolean;
  isLocked: boolean;
  isFork: boolean;
  headSha: string;
  baseBranch: string;
  /** The branch of the head; absent where that is in another repository. */
  headBranch: string | undefined;
  defaultBranch: string;
  /** The web address of the repository that it goes to. */
  repositoryUrl: string;
}

/** Reads a pull request, which the event of a comment only names. */
export async function readPull(number: number, { client, repository }: CommandGitHub): Promise<CommandPull> {
  const parameters = { ...repositoryParameters(repository), pull_number: number };
  const { data } = await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', parameters);
  const { head, base } = data;
  // The repository of the head may have been deleted: then it was a fork, too.
  const isFork = head.repo?.id !== base.repo.id;
  return {
    number,
    isOpen: data.state === 'open',
    isMerged: data.merged,
    isLocked: data.locked,
    isFork,
    headSha: head.sha,
    baseBranch: base.ref,
    headBranch: isFork ? undefined : head.ref,
    defaultBranch: base.repo.default_branch,
    repositoryUrl: base.repo.html_url,
  };
}
