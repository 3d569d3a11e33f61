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

function spelledAlike(address: string): string {
  const written = address.trim();
  const short = /^(?:[^@/\\\s]+@)?([^@:/\\\s]{2,}):(?!\/\/)(.+)$/.exec(written);
  if (short?.[1] && short[2]) return onHost(short[1], short[2]);
  const url = URL.parse(written);
  if (url) {
    if (url.protocol === 'file:') return inFolder(url);
    // An ssh port does not distinguish two repositories of a host; a web port can.
    const host = url.protocol.startsWith('http') ? url.host : url.hostname;
    if (hosted.has(url.protocol)) return onHost(host, url.pathname);
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
