import { paged, Refusal, type ApiResponse, type ApiCall, type JsonObject } from '../exchange.ts';
import { askEmulated, fullNameOf, repositoryFor, repositoryUrl, type Repository, type Site } from '../site.ts';
import { accountNamed } from './accounts.ts';

/** A repository as GitHub shows it: the emulated one, with what that leaves out. */
export async function repositoryAnswer(site: Site, repository: Repository): Promise<JsonObject> {
  const owner = accountNamed(site, repository.owner);
  return {
    ...(await askEmulated(site, 'GET', `/repos/${fullNameOf(repository)}`)),
    owner,
    ...(owner['type'] === 'Organization' ? { organization: owner } : {}),
    deployments_url: `${repositoryUrl(site, repository)}/deployments`,
    web_commit_signoff_required: false,
    has_pull_requests: true,
    subscribers_count: 0,
    network_count: 0,
  };
}

export async function getRepository(call: ApiCall, site: Site): Promise<ApiResponse> {
  return { status: 200, body: await repositoryAnswer(site, await repositoryFor(site, call, 'metadata', 'read')) };
}

/** What an installation may reach. */
export async function installationRepositories(call: ApiCall, site: Site): Promise<ApiResponse> {
  const { who } = call;
  if (who.kind !== 'installation') throw new Refusal(403, 'You must authenticate with an installation access token.');
  const own = site.repositories.filter(({ owner }) => owner === who.owner);
  const answers = await Promise.all(own.map((repository) => repositoryAnswer(site, repository)));
  return paged(call, site.url, answers, (page) => ({
    total_count: own.length,
    repository_selection: 'all',
    repositories: page,
  }));
}
