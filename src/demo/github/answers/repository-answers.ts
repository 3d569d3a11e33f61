import { paged } from '../page.ts';
import { Refusal, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { objectFromEmulated, reaches, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { withWholeAccounts } from './accounts.ts';

/** A repository as GitHub shows it, whole. */
export async function repositoryAnswer(site: Site, repository: Repository): Promise<JsonObject> {
  const emulated = await objectFromEmulated(site, 'GET', `/repos/${fullNameOf(repository)}`);
  return completeRepository(site, repository, emulated);
}

/** Gives a repository of the emulated GitHub what it leaves out. */
function completeRepository(site: Site, repository: Repository, emulated: JsonObject): JsonObject {
  const { owner } = repository;
  const account = site.accounts.get(owner);
  const isOrganization = account?.type === 'Organization';
  const whole = withWholeAccounts(site, emulated);
  const answer = {
    ...(typeof whole === 'object' ? whole : {}),
    deployments_url: `${repositoryUrl(site, repository)}/deployments`,
    web_commit_signoff_required: false,
    has_pull_requests: true,
    subscribers_count: 0,
    network_count: 0,
  };
  const organization = Reflect.get(answer, 'owner');
  return isOrganization ? { ...answer, organization } : answer;
}

export async function getRepository(call: ApiCall, site: Site): Promise<Answer> {
  return { status: 200, body: await repositoryAnswer(site, repositoryFor(site, call.params, call.who)) };
}

/** What an installation may reach. */
export async function installationRepositories(call: ApiCall, site: Site): Promise<Answer> {
  const { who } = call;
  if (who.kind !== 'installation') throw new Refusal(403, 'You must authenticate with an installation access token.');
  const own = site.repositories.all().filter((repository) => reaches(who, repository));
  const answers = await Promise.all(own.map((repository) => repositoryAnswer(site, repository)));
  return paged(call, site.url, answers, (page) => ({
    total_count: own.length,
    repository_selection: 'all',
    repositories: page,
  }));
}
