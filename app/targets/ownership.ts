import type { Deployment } from '../../src/contract/control/deployment.ts';
import { sameRepository } from '../../src/deploy/file/repository-url.ts';
import { fullName, type InstallationRepository } from '../github/github-api.ts';
import type { Binding } from '../settings/environment.ts';

/** The fields that prove ownership: only the service's own. */
export type OwnedDeployment = Pick<Deployment, 'id' | 'name' | 'source_config'>;

type RepositoryName = Pick<InstallationRepository, 'owner' | 'name'>;

/**
 * A repository controls a deployment if the service has its URL as `repo_url`, or if the operator bound the two. Files
 * in the repository do not count.
 *
 * @param webHost where GitHub's repositories are reached, for example `github.com` or `localhost:4000`
 */
export function createOwnership(webHost: string, bindings: readonly Binding[]) {
  /** Whether an address is that of the repository, in any spelling. */
  const isOwn = (repository: RepositoryName, repoUrl: string): boolean =>
    isAscii(repoUrl) && addressesOf(webHost, repository, repoUrl).some((address) => sameRepository(address, repoUrl));
  return {
    isOwn,
    /** Why the repository may not control the deployment, in a clause without its owner; undefined if it may. */
    refusal(repository: RepositoryName, deployment: OwnedDeployment): string | undefined {
      const { repo_url: repoUrl } = deployment.source_config;
      if (repoUrl && isOwn(repository, repoUrl)) return undefined;
      if (bindings.some((binding) => isBound(binding, repository, deployment))) return undefined;
      return (
        `its repo_url is not this repository, and a repository controls its own deployments only, unless the operator ` +
        `of the App binds it: ${fullName(repository)}=${deployment.id}`
      );
    },
  };
}
export type Ownership = ReturnType<typeof createOwnership>;

const isBound = (binding: Binding, repository: RepositoryName, { id, name }: OwnedDeployment): boolean =>
  binding.repository.toLowerCase() === fullName(repository).toLowerCase() &&
  (binding.deployment === name || binding.deployment.toLowerCase() === id.toLowerCase());

/** Letters of other alphabets may become ASCII in lower case; GitHub's names contain only ASCII. */
const isAscii = (address: string): boolean => /^[\x21-\x7e]+$/.test(address.trim());

/** The addresses of a repository. A port belongs to the web address; ssh addresses of the same host have none. */
function addressesOf(webHost: string, { owner, name }: RepositoryName, repoUrl: string): string[] {
  const web = [`https://${webHost}/${owner}/${name}`, `http://${webHost}/${owner}/${name}`];
  const [host = webHost] = webHost.split(/:\d+$/);
  return /^https?:/i.test(repoUrl.trim()) ? web : [`ssh://git@${host}/${owner}/${name}`, ...web];
}

/**
 * The host (and port, where one is written) below which people and git reach the repositories of the GitHub whose API
 * this is: `https://api.github.com` serves `github.com`, `https://HOST/api/v3` serves HOST.
 */
export function webHostOf(apiUrl: string): string {
  const { host } = new URL(apiUrl);
  return host === 'api.github.com' || /^api\..+\.ghe\.com$/.test(host) ? host.slice('api.'.length) : host;
}
