import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unescape } from 'node:querystring';

/** The variables of pip and uv that choose where packages come from. */
const settingNames = [
  'PIP_INDEX_URL',
  'PIP_EXTRA_INDEX_URL',
  'PIP_FIND_LINKS',
  'PIP_NO_INDEX',
  'PIP_TRUSTED_HOST',
  'PIP_CERT',
  'PIP_PROXY',
  'PIP_DEFAULT_TIMEOUT',
  'UV_INDEX',
  'UV_INDEX_URL',
  'UV_DEFAULT_INDEX',
  'UV_EXTRA_INDEX_URL',
  'UV_FIND_LINKS',
  'UV_INSECURE_HOST',
  'UV_NATIVE_TLS',
  'UV_HTTP_TIMEOUT',
  'REQUESTS_CA_BUNDLE',
];

/** The URLs in the value of a variable, which may list several. */
const addressesIn = (value: string): URL[] =>
  value.split(/[\s,]+/).flatMap((each) => URL.parse(each.replace(/^[\w-]+=(?=\w+:)/, '')) ?? []);

const hasCredentials = (value: string): boolean =>
  addressesIn(value).some(({ username, password }) => `${username}${password}` !== '');

/**
 * The variables of pip and uv for builds: the operator's indexes, the tenant's caches, no prompts, and no downloads of
 * interpreters.
 *
 * @param packageCache the folder of the tenant's (and user's) downloads.
 * @param isOtherUser whether the build runs as another user: then it gets no variable with credentials.
 */
export function pythonVariables(
  packageCache: string,
  env: NodeJS.ProcessEnv,
  isOtherUser: boolean,
): Record<string, string> {
  const variables = settingNames.flatMap((name): [string, string][] => {
    const value = env[name];
    return !value || (isOtherUser && hasCredentials(value)) ? [] : [[name, value]];
  });
  // pip reads the machine's file by itself, but not the service's: a build has a HOME of its own.
  const configFiles = [env.PIP_CONFIG_FILE, env.HOME && join(env.HOME, '.config/pip/pip.conf')];
  const file = isOtherUser ? undefined : configFiles.find((each) => each && existsSync(each));
  return {
    ...Object.fromEntries(variables),
    ...(file ? { PIP_CONFIG_FILE: file } : {}),
    ...uvFolders(Object.fromEntries(variables)),
    PIP_CACHE_DIR: join(packageCache, '_pip'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    PIP_RETRIES: '2',
    UV_CACHE_DIR: join(packageCache, '_uv'),
    // Hard links to the cache would change with it.
    UV_LINK_MODE: 'copy',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    PYTHONUNBUFFERED: '1',
  };
}

/** Passes pip's folders and URLs of packages to uv, without missing folders, for which uv would fail. */
function uvFolders({ PIP_FIND_LINKS: links = '', UV_FIND_LINKS: own }: Record<string, string>): Record<string, string> {
  const existingLinks = links.split(/\s+/).filter((each) => each.includes('://') || (each !== '' && existsSync(each)));
  return own || existingLinks.length === 0 ? {} : { UV_FIND_LINKS: existingLinks.join(',') };
}

/** Whether the operator configures an index for uv and not for pip. */
export const hasIndexOnlyForUv = (env: Readonly<Record<string, string>>): boolean =>
  ['UV_INDEX', 'UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_EXTRA_INDEX_URL'].some((name) => Boolean(env[name])) ||
  Boolean(env['UV_FIND_LINKS'] && !env['PIP_FIND_LINKS']);

/** The variables of a build's environment that decide where packages of Python come from. */
export const indexVariables = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries([...settingNames, 'PIP_CONFIG_FILE'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

/** The passwords in these variables. */
export const indexSecrets = (env: NodeJS.ProcessEnv): string[] =>
  settingNames
    .flatMap((name) => addressesIn(env[name] ?? ''))
    .flatMap(({ username, password }) => [password || username])
    .map((each) => unescape(each))
    .filter((each) => each !== '');
