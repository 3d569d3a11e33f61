import { isObject } from '../../../src/kit/json-object.ts';
import { accountNamed, repositoryAnswer } from '../../../src/demo/github/answers/accounts.ts';
import { createToken } from '../../../src/demo/github/answers/app.ts';
import { notFound, numberAt, objectAt, objectsAt, textAt, type Caller } from '../../../src/demo/github/exchange.ts';
import {
  fullNameOf,
  repositoryFor,
  type Handler,
  type Repository,
  type GitHubState,
} from '../../../src/demo/github/state.ts';

/** What a token of an installation was made for. */
interface Granted {
  permissions: Readonly<Record<string, unknown>>;
  /** The repositories that it is for, where it was made for some only. */
  repositoryIds?: ReadonlySet<number>;
}

/** What callers may do in repositories, by the tokens that installations were given and the roles of people. */
export class Permissions {
  readonly #granted = new Map<string, Granted>();

  /** Makes a token, and keeps what it is for. */
  readonly createToken: Handler = async (call, state) => {
    const answer = await createToken(call, state);
    if (answer.status !== 201 || !isObject(answer.body)) return answer;
    const permissions = objectAt(answer.body, 'permissions');
    const isNarrow = 'repositories' in answer.body;
    const ids = new Set(objectsAt(answer.body, 'repositories').map((each) => numberAt(each, 'id')));
    this.#granted.set(textAt(answer.body, 'token') ?? '', { permissions, ...(isNarrow ? { repositoryIds: ids } : {}) });
    if (!isNarrow) return answer;
    const narrowed = state.repositories.filter(({ id }) => ids.has(id));
    const repositories = await Promise.all(narrowed.map((each) => repositoryAnswer(state, each)));
    return { ...answer, body: { ...answer.body, repositories } };
  };

  async permits(
    state: GitHubState,
    who: Caller,
    repository: Repository,
    permission: string,
    level: 'read' | 'write',
  ): Promise<boolean> {
    const isPublicRead = level === 'read' && !repository.isPrivate;
    if (isPublicRead) return true;
    if (who.kind === 'installation') return this.#permitsInstallation(who, repository, permission, level);
    if (who.kind !== 'person') return false;
    if (permission === 'metadata') return who.login === state.administrator;
    if (permission !== 'contents') return true;
    const role = await roleOf(state, repository, who.login);
    return role === 'admin' || role === 'write' || (level === 'read' && role === 'read');
  }

  #permitsInstallation(
    who: Extract<Caller, { kind: 'installation' }>,
    repository: Repository,
    permission: string,
    level: 'read' | 'write',
  ): boolean {
    const { permissions = {}, repositoryIds } = this.#granted.get(who.token) ?? {};
    const isReached = who.owner === repository.owner && (repositoryIds?.has(repository.id) ?? true);
    // Every token that reaches a repository may read its metadata.
    const given = permission === 'metadata' ? 'read' : permissions[permission];
    return isReached && (given === 'write' || given === 'admin' || (level === 'read' && given === 'read'));
  }
}

/** What a person may do in a repository: `admin`, `write`, `read` or `none`. */
async function roleOf(state: GitHubState, repository: Repository, login: string): Promise<string> {
  const path = `/repos/${fullNameOf(repository)}/collaborators/${login}/permission`;
  const { body } = await state.emulator.request('GET', path, `token ${state.personalTokens.get(state.administrator)}`);
  // The emulated GitHub knows nothing of strangers: they may read what is public.
  const stranger = repository.isPrivate ? 'none' : 'read';
  return (isObject(body) ? textAt(body, 'role_name') : undefined) ?? stranger;
}

/** The role of a person in a repository. */
export const getPermission: Handler = async (call, state) => {
  const repository = await repositoryFor(state, call, 'metadata', 'read');
  const login = call.params['username'] ?? '';
  if (!state.accounts.has(login)) throw notFound();
  const role = await roleOf(state, repository, login);
  const [isAdmin, mayWrite] = [role === 'admin', role === 'admin' || role === 'write'];
  const permissions = { pull: role !== 'none', triage: mayWrite, push: mayWrite, maintain: isAdmin, admin: isAdmin };
  const user = { ...accountNamed(state, login), permissions, role_name: role };
  return { status: 200, body: { permission: role, role_name: role, user } };
};
