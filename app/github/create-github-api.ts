import { writeCheck } from '../../src/github/check.ts';
import { makeDeployment, writeDeploymentStatus } from '../../src/github/deployment.ts';
import type { RepositoryAt } from '../context.ts';
import { GitHubApiError, type GitHubApi } from './github-api.ts';
import { readComparison, readFile, readHead, readPermission } from './reading.ts';
import type { PacedClient } from './sending.ts';

/**
 * GitHub as the App's work sees it.
 *
 * @param clientOf a client for each installation, as `clientsFor` gives them out
 */
export function createGitHubApi(clientOf: (installationId: number) => PacedClient): GitHubApi {
  /** Deployments whose last status may have been written without a response. */
  const unsure = new Set<number>();
  const at = ({ installationId }: RepositoryAt): PacedClient => clientOf(installationId);
  const toWrite = (repository: RepositoryAt, kind: 'change' | 'make'): PacedClient => {
    const client = at(repository);
    client.expectTurn(kind);
    return client;
  };

  return {
    head: (repository, branch) => readHead(at(repository), repository, branch),
    compare: (repository, base, head) => readComparison(at(repository), repository, base, head),
    file: (repository, path, ref) => readFile(at(repository), repository, path, ref),
    permissionOf: (repository, login) => readPermission(at(repository), repository, login),
    defaultBranch: async (repository) => {
      const { owner, name } = repository;
      const { data } = await at(repository).request('GET /repos/{owner}/{repo}', { owner, repo: name });
      return data.default_branch;
    },

    writeCheck: async (place, id, content) =>
      writeCheck(toWrite(place.repository, id === undefined ? 'make' : 'change'), place, id, content),
    makeDeployment: async (place, content) => {
      const made = await makeDeployment(toWrite(place.repository, 'make'), place, content);
      if (made.kind === 'made') return made.id;
      const { owner, name } = place.repository;
      const message = `GitHub made no deployment of ${owner}/${name} at ${place.commit} (${made.status}): ${made.why}`;
      throw new GitHubApiError(message, made.status, 'none');
    },
    writeDeploymentStatus: async (place, id, content) => {
      const look = unsure.delete(id);
      try {
        await writeDeploymentStatus(at(place.repository), place, id, content, { look });
      } catch (error) {
        if (look || (error instanceof GitHubApiError && error.effect === 'unknown')) unsure.add(id);
        throw error;
      }
    },
  };
}
