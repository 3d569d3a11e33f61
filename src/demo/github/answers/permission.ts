import { isObject } from '../../../contract/json-object.ts';
import { notFound, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { administrator, demand, repositoryFor, type Site } from '../site.ts';
import { fullNameOf } from '../repositories.ts';
import { accountAnswer } from './accounts.ts';

/** GitHub reports four levels, and the role beside them. */
const levels: Record<string, string> = {
  admin: 'admin',
  maintain: 'write',
  push: 'write',
  write: 'write',
  triage: 'read',
  pull: 'read',
  read: 'read',
};

/** What a person may do. The emulated GitHub knows nothing of strangers: they may read what is public. */
export async function permissionOf(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'metadata', 'read');
  const login = call.params['username'] ?? '';
  const account = site.accounts.get(login);
  if (!account) throw notFound();
  const path = `/repos/${fullNameOf(repository)}/collaborators/${login}/permission`;
  const { body } = await site.emulated.ask('GET', path, administrator(site).authorization);
  const reported: JsonObject = isObject(body) ? body : {};
  const stranger = repository.isPrivate ? 'none' : 'read';
  const permission = levels[String(reported['permission'])] ?? stranger;
  const may = (from: string): boolean =>
    ['read', 'write', 'admin'].indexOf(permission) >= ['read', 'write', 'admin'].indexOf(from);
  const permissions = {
    pull: may('read'),
    triage: may('write'),
    push: may('write'),
    maintain: may('admin'),
    admin: may('admin'),
  };
  const user = { ...accountAnswer(site, account), permissions, role_name: permission };
  return { status: 200, body: { permission, role_name: permission, user } };
}
