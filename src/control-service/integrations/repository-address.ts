import { withoutTrailingSlashes } from '../../contract/plain-text.ts';

/** A repository of a GitHub, from its address. */
export interface NamedRepository {
  owner: string;
  name: string;
}

/**
 * The base of clone addresses for the address of a GitHub's API: github.com, GitHub Enterprise Server
 * (`https://HOST/api/v3`), GHE.com (`https://api.SUBDOMAIN.ghe.com`). Any other address serves as both.
 */
export function cloneOrigin(apiUrl: string): string {
  const url = new URL(apiUrl);
  if (url.hostname === 'api.github.com') return 'https://github.com';
  const ghe = /^api\.([^.]+\.ghe\.com)$/.exec(url.hostname)?.[1];
  return ghe === undefined ? url.origin : `https://${ghe}`;
}

/** The repository of a `repo_url` on this GitHub; undefined where it is on another host, or no repository. */
export function repositoryAt(origin: string, repoUrl: string): NamedRepository | undefined {
  if (!URL.canParse(repoUrl)) return undefined;
  const url = new URL(repoUrl);
  const [, owner, name, more] = withoutTrailingSlashes(url.pathname).split('/');
  if (url.origin !== origin || !owner || !name || more !== undefined) return undefined;
  const plain = decodeURIComponent(name).replace(/\.git$/, '');
  return plain === '' ? undefined : { owner: decodeURIComponent(owner), name: plain };
}

/** GitHub ignores the case of names. */
export const isSameRepository = (one: NamedRepository, other: NamedRepository): boolean =>
  one.owner.toLowerCase() === other.owner.toLowerCase() && one.name.toLowerCase() === other.name.toLowerCase();
