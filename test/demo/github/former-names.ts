import type { ApiResponse, ApiCall } from '../../../src/demo/github/exchange.ts';
import { fullNameOf, findRepository, type Repository, type GitHubState } from '../../../src/demo/github/state.ts';

/** Former names of repositories, and the ids that never change. */
export class FormerNames {
  readonly #renamed = new Map<string, Repository>();

  keep(fullName: string, repository: Repository): void {
    this.#renamed.set(fullName.toLowerCase(), repository);
  }

  /** A repository by its name, or by one that it had before. */
  find(state: GitHubState, fullName: string): Repository | undefined {
    return findRepository(state, fullName) ?? this.#renamed.get(fullName.toLowerCase());
  }

  /** The path under a repository's present name: of `/repositories/{id}`, and of git under a former name. */
  located(state: GitHubState, path: string): string {
    const [, id, rest = ''] = /^\/repositories\/(\d+)(\/.*)?$/.exec(path) ?? [];
    const numbered = id === undefined ? undefined : state.repositories.find((each) => each.id === Number(id));
    if (numbered) return `/repos/${fullNameOf(numbered)}${rest}`;
    const [, name = '', gitRest = ''] = /^\/([^/]+\/[^/]+)\.git(\/.*)$/.exec(path) ?? [];
    const renamed = this.#renamed.get(name.toLowerCase());
    return renamed ? `/${fullNameOf(renamed)}.git${gitRest}` : path;
  }

  /** GitHub leads from a former name to the repository's id. */
  redirect(state: GitHubState, { method, path, query }: ApiCall): ApiResponse | undefined {
    const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? [];
    const renamed = findRepository(state, name) ? undefined : this.#renamed.get(name.toLowerCase());
    if (!renamed) return undefined;
    const location = `${state.url}/repositories/${renamed.id}${rest}${query.size > 0 ? `?${query.toString()}` : ''}`;
    const body = { message: 'Moved Permanently', url: location };
    return { status: method === 'GET' ? 301 : 307, headers: { location }, body };
  }
}
