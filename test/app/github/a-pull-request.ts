import type { PullRequestState } from '../../../app/github/github-api.ts';

/** An open pull request of a repository's own branch. */
export const aPullRequest = (headSha: string, more: Partial<PullRequestState> = {}): PullRequestState => ({
  headSha,
  headBranch: 'next',
  baseBranch: 'main',
  isOpen: true,
  isMerged: false,
  labels: [],
  headRef: 'next',
  isFork: false,
  repositoryUrl: 'https://github.com/acme/agents',
  headUrl: 'https://github.com/acme/agents',
  ...more,
});
