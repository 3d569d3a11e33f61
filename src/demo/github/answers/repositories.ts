import { isObject } from '../../../contract/json-object.ts';
import { notFound, textAt, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { administrator, demand, objectFromEmulated, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import { accountAnswer, withWholeAccounts } from './accounts.ts';

/** A repository as GitHub shows it: the emulated one, with what that leaves out. */
export async function repositoryAnswer(site: Site, repository: Repository): Promise<JsonObject> {
  const emulated = await objectFromEmulated(site, 'GET', `/repos/${fullNameOf(repository)}`);
  const whole = withWholeAccounts(site, emulated);
  const answer: JsonObject = {
    ...(isObject(whole) ? whole : {}),
    deployments_url: `${repositoryUrl(site, repository)}/deployments`,
    web_commit_signoff_required: false,
    has_pull_requests: true,
    subscribers_count: 0,
    network_count: 0,
  };
  const isOrganization = site.accounts.get(repository.owner)?.type === 'Organization';
  return isOrganization ? { ...answer, organization: answer['owner'] } : answer;
}

export async function getRepository(call: ApiCall, site: Site): Promise<Answer> {
  return { status: 200, body: await repositoryAnswer(site, repositoryFor(site, call.params, call.who)) };
}

/** What a person may do in a repository: `admin`, `write`, `read` or `none`. */
export async function roleOf(site: Site, repository: Repository, login: string): Promise<string> {
  const path = `/repos/${fullNameOf(repository)}/collaborators/${login}/permission`;
  const { body } = await site.emulated.ask('GET', path, administrator(site).authorization);
  // The emulated GitHub knows nothing of strangers: they may read what is public.
  const stranger = repository.isPrivate ? 'none' : 'read';
  return (isObject(body) ? textAt(body, 'role_name') : undefined) ?? stranger;
}

export async function getPermission(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'metadata', 'read');
  const login = call.params['username'] ?? '';
  const account = site.accounts.get(login);
  if (!account) throw notFound();
  const role = await roleOf(site, repository, login);
  const [isAdmin, mayWrite] = [role === 'admin', role === 'admin' || role === 'write'];
  const permissions = { pull: role !== 'none', triage: mayWrite, push: mayWrite, maintain: isAdmin, admin: isAdmin };
  const user = { ...accountAnswer(site, account), permissions, role_name: role };
  return { status: 200, body: { permission: role, role_name: role, user } };
}
