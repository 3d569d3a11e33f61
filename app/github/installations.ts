import { pageSize, type GitHubClient } from '../../src/github/client.ts';
import type { RepositoryAt } from '../repository.ts';
import { GitHubApiError, InstallationPaused } from './github-api.ts';
import type { RepositoryClient } from '../recovery/recover.ts';
import type { AppRoute } from './octokit.ts';

/**
 * Lists the repositories of all installations, one page at a time.
 *
 * @param clientOf a client for each installation; for `undefined` one that authenticates as the App itself
 * @param log receives installations that cannot be read now
 */
export function createRepositoryClient(
  clientOf: (installationId: number | undefined) => GitHubClient<AppRoute>,
  log: (message: string) => void,
): RepositoryClient {
  return {
    async *repositories() {
      for await (const installationId of installationIds(clientOf(undefined))) {
        try {
          yield* repositoriesOf(clientOf(installationId), installationId);
        } catch (error) {
          if (!(error instanceof GitHubApiError) && !(error instanceof InstallationPaused)) throw error;
          log(`The repositories of installation ${installationId} could not be listed: ${error.message}`);
        }
      }
    },
  };
}

async function* installationIds(app: GitHubClient<AppRoute>): AsyncGenerator<number> {
  for (let page = 1; ; page += 1) {
    const { data } = await app.request('GET /app/installations', { per_page: pageSize, page });
    for (const { id, suspended_at: suspendedAt } of data) if (!suspendedAt) yield id;
    if (data.length < pageSize) return;
  }
}

async function* repositoriesOf(client: GitHubClient<AppRoute>, installationId: number): AsyncGenerator<RepositoryAt> {
  for (let page = 1; ; page += 1) {
    const { data } = await client.request('GET /installation/repositories', { per_page: pageSize, page });
    for (const { id, name, owner } of data.repositories) {
      yield { installationId, repositoryId: Number(id), owner: owner.login, name };
    }
    if (data.repositories.length < pageSize) return;
  }
}
