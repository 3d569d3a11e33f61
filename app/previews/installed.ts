import type { Clock } from '../../src/kit/clock.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { RepositoryClient } from '../recovery/recover.ts';
import { createSharedReader } from '../targets/listed-deployments.ts';

/** Reads the repositories that the App reaches, by their ids; not before `notBefore` (ms since the epoch). */
export type Installed = (notBefore?: number) => Promise<ReadonlyMap<number, InstallationRepository>>;

/** How long the repositories are kept (ms): reading them takes a request for each hundred. */
const keptMs = 30 * 60_000;

/** Reads them at most twice an hour, unless a newer list is needed. */
export function createInstalled(repositories: RepositoryClient, clock: Pick<Clock, 'now'>): Installed {
  const read = createSharedReader(
    clock,
    keptMs,
    () => 'all',
    async (from: RepositoryClient) => {
      const found = new Map<number, InstallationRepository>();
      for await (const repository of from.repositories()) found.set(repository.repositoryId, repository);
      return found;
    },
  );
  return (notBefore) => read(repositories, notBefore);
}
