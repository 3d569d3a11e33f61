import { trimStartOf, withoutTrailingSlashes } from '../../kit/plain-text.ts';

/** Schemes that name a repository on a host: which of them is used says nothing about which repository is meant. */
const hosted = new Set(['http:', 'https:', 'ssh:', 'git:', 'git+ssh:', 'git+https:']);

/**
 * Whether two addresses name the same git repository, in any spelling: https or ssh, git's short `git@host:owner/name`,
 * with or without `.git`, a user or a trailing slash, in upper or lower case. A folder is identified by its path or its
 * `file:` address, which is case-sensitive.
 */
export const sameRepository = (one: string, other: string): boolean => spelledAlike(one) === spelledAlike(other);

/** Whether an address on a host names the repository `owner/name`, whatever the host is called. */
export const isRepositoryNamed = (address: string, owner: string, name: string): boolean =>
  spelledAlike(address).endsWith(`/${owner}/${name}`.toLowerCase());

/**
 * The web address of a repository on a host, from what git takes for its remote: also ssh, and `git@host:owner/name`.
 * Undefined for anything else, such as a folder.
 */
export function webAddressOf(remote: string): string | undefined {
  const short = shortForm(remote.trim());
  if (short) return `https://${short.host}/${bare(short.path)}`;
  const url = URL.parse(remote.trim());
  if (!url || !hosted.has(url.protocol)) return undefined;
  const origin = url.protocol === 'http:' ? `http://${url.host}` : `https://${webHostOf(url)}`;
  return bare(url.pathname) === '' ? undefined : `${origin}/${bare(url.pathname)}`;
}

/** An ssh port does not distinguish two repositories of a host; a web port can. */
const webHostOf = (url: URL): string => (url.protocol.startsWith('http') ? url.host : url.hostname);

/** Git's short form, `git@host:owner/name`. */
function shortForm(written: string): { host: string; path: string } | undefined {
  const [, host, path] = /^(?:[^@/\\\s]+@)?([^@:/\\\s]{2,}):(?!\/\/)(.+)$/.exec(written) ?? [];
  return host && path ? { host, path } : undefined;
}

function spelledAlike(address: string): string {
  const written = address.trim();
  const short = shortForm(written);
  if (short) return onHost(short.host, short.path);
  const url = URL.parse(written);
  if (url) {
    if (url.protocol === 'file:') return inFolder(url);
    if (hosted.has(url.protocol)) return onHost(webHostOf(url), url.pathname);
  }
  const path = written.replaceAll('\\', '/').replace(/[%?#]/g, encodeURIComponent);
  const file = URL.parse(`file://${path.replace(/^(?=[^/])/, '/')}`);
  return file ? inFolder(file) : written;
}

const onHost = (host: string, path: string) => `${host}/${bare(path)}`.toLowerCase();

const inFolder = (url: URL) => `file:/${bare(url.pathname)}`;

const bare = (path: string) => withoutTrailingSlashes(trimStartOf(path, '/')).replace(/\.git$/i, '');

/** The address as it may be shown: a user and a password that it carries are left out. */
export function shownRepository(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
}
