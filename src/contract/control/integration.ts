import * as z from 'zod';

/** One installation of a GitHub App (docs/design/contract.md#endpoints): `id` is the `integration_id`. */
export const githubIntegration = z.looseObject({
  id: z.string(),
  installation_id: z.number().nullish(),
  name: z.string().nullish(),
});
export type GithubIntegration = z.infer<typeof githubIntegration>;
/** The response of `GET /v1/integrations/github/install`. */
export const githubIntegrations = z.array(githubIntegration);

/** A repository that an integration can access. `id` is GitHub's. */
export const githubRepository = z.looseObject({
  host_integration_id: z.string().nullish(),
  id: z.number(),
  name: z.string(),
  owner: z.string(),
  url: z.string(),
  default_branch: z.string().nullish(),
});
export type GithubRepository = z.infer<typeof githubRepository>;
/** A branch of a repository (an addition of ours). */
export const githubBranch = z.looseObject({ name: z.string(), commit_sha: z.string() });
export type GithubBranch = z.infer<typeof githubBranch>;

/** The response of `GET /v1/integrations/github/{integration_id}/repos`. */
export const githubRepositories = z.array(githubRepository);
