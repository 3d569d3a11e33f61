import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isWithin } from '../../builds/build-folder.ts';

/** A repository that can be cloned: remote, or a folder of this machine. */
export type ReadRepoUrl =
  | { ok: true; kind: 'network'; url: string }
  | { ok: true; kind: 'folder'; path: string }
  | { ok: false; problem: string };

/** The schemes that are allowed: a clone reads whatever its address names. */
const protocols = new Set(['https:', 'http:']);

/**
 * Parses `repo_url`: https, http of this machine, and folders below one of `allowGit`. Refuses all else that git
 * supports: other protocols can run commands or use this machine's keys, a leading hyphen is an option, and every
 * reader of the deployment would see credentials. A link may lead out of a folder: before a clone, compare real paths
 * too.
 */
export function readRepoUrl(written: string, allowGit: readonly string[]): ReadRepoUrl {
  if (/[\u0000-\u0020\u007f]/.test(written)) return refused('must not contain spaces or control characters');
  if (written.startsWith('-')) return refused('may not begin with a hyphen');
  if (isAbsolute(written)) return readFolder(written, allowGit);
  if (/^[^/:@]+@[^/:]+:/.test(written) || written.startsWith('ssh:')) {
    return refused('names an ssh address, for which this service has no key; use the https address of the repository');
  }
  if (!URL.canParse(written) || written.includes('::')) return refused(advice);
  const url = new URL(written);
  if (url.protocol === 'file:') return readFileUrl(url, allowGit);
  if (!protocols.has(url.protocol) || !/^https?:\/\//i.test(written)) return refused(advice);
  if (url.username || url.password) {
    return refused('must not contain a user or a password; an integration or a public repository needs none');
  }
  if (url.search || url.hash) return refused('must not contain a query or a fragment');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return refused('is plain http, which is taken for this machine only; use https');
  }
  if (url.pathname === '/') return refused('names a host but no repository on it');
  return { ok: true, kind: 'network', url: url.href };
}

const advice = 'must be the https address of a git repository, as in https://host/owner/name';

const refused = (why: string): ReadRepoUrl => ({ ok: false, problem: `source_config.repo_url ${why}.` });

const isLoopback = (hostname: string): boolean => hostname === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

function readFileUrl(url: URL, allowGit: readonly string[]): ReadRepoUrl {
  if (url.hostname !== '' || url.search !== '' || url.hash !== '' || /%2f|%5c|%00/i.test(url.pathname)) {
    return refused(advice);
  }
  return readFolder(fileURLToPath(url), allowGit);
}

function readFolder(written: string, allowGit: readonly string[]): ReadRepoUrl {
  const path = resolve(written);
  if (allowGit.some((folder) => isWithin(resolve(folder), path))) return { ok: true, kind: 'folder', path };
  const allowed = allowGit.length === 0 ? '' : `, only what is in ${[...new Set(allowGit)].join(', ')}`;
  const problem = `source_config.repo_url: this service may not read ${path}${allowed}. Start it with \`npm run local -- --allow-git ${path}\`, or upload the folder instead.`;
  return { ok: false, problem };
}
