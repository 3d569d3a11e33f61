import { pageSize, type GitHubClient } from '../../src/github/client.ts';
import type { RepositoryAt } from '../repository.ts';
import type { AppRoute } from './octokit.ts';

/** Where the App is installed, and what it reaches there. Failures are `HubError` or `InstallationPaused`. */
export interface InstallationDesk {
  /** Ids of the installations that are not suspended. */
  installations(): Promise<number[]>;
  repositories(installationId: number): Promise<RepositoryAt[]>;
}

/** Reads installations as the App itself, and the repositories of each with its own token. */
export function createInstallationDesk(
  clientOf: (installationId: number | undefined) => GitHubClient<AppRoute>,
): InstallationDesk {
  return {
    installations: () =>
      allPages(async (page) => {
        const { data } = await clientOf(undefined).request('GET /app/installations', { per_page: pageSize, page });
        return { size: data.length, found: data.filter((each) => !each.suspended_at).map(({ id }) => Number(id)) };
      }),
    repositories: (installationId) =>
      allPages(async (page) => {
        const { data } = await clientOf(installationId).request('GET /installation/repositories', {
          per_page: pageSize,
          page,
        });
        const found = data.repositories.map(({ id, name, owner }) => ({
          installationId,
          repositoryId: Number(id),
          owner: owner.login,
          name,
        }));
        return { size: data.repositories.length, found };
      }),
  };
}

async function allPages<Found>(
  read: (page: number) => Promise<{ size: number; found: readonly Found[] }>,
): Promise<Found[]> {
  const all: Found[] = [];
  for (let page = 1; ; page += 1) {
    const { size, found } = await read(page);
    all.push(...found);
    if (size < pageSize) return all;
  }
}
