/** The options of `preview` about the pull request, by their names, as commander has them. */
export const pullRequestOptions = {
  'pull-request': 'Number of the pull request.',
  'repository-id':
    'Number of the repository at its host, which stays when it is renamed. (env: GITHUB_REPOSITORY_ID, CI_PROJECT_ID)',
  'head-ref': 'The branch of its head, as its plain name.',
  'repository-url':
    'Address of the repository that it is to. (env: GITHUB_SERVER_URL and GITHUB_REPOSITORY, CI_MERGE_REQUEST_PROJECT_URL, CI_PROJECT_URL)',
  'head-url':
    'Address of the repository that its commit comes from, which is another one for a fork. (env: CI_MERGE_REQUEST_SOURCE_PROJECT_URL)',
  commit: 'Full SHA of its head.',
  'approved-commit': 'Full SHA of the commit of a fork that a person approved.',
  label: 'A label of the pull request; give the option once for each.',
} as const;

/** One that is given once. */
export type PullRequestOption = Exclude<keyof typeof pullRequestOptions, 'label'>;
