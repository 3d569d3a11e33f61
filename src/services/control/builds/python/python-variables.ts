import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unescape } from 'node:querystring';

/** The settings of pip and uv that say where packages come from. */
const settings = [
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

/** The value of a setting in words: each may be an address. */
const addressesIn = (value: string): URL[] =>
  value.split(/[\s,]+/).flatMap((each) => URL.parse(each.replace(/^[\w-]+=(?=\w+:)/, '')) ?? []);

const hasCredentials = (value: string): boolean =>
  addressesIn(value).some(({ username, password }) => `${username}${password}` !== '');

/**
 * The variables by which pip and uv install for builds: the operator's indexes, caches of the tenant's own, and no
 * questions or downloads of interpreters.
 *
 * @param packageCache the folder of the tenant's (and user's) downloads.
 * @param isOthers whether the build runs as another user: then no setting with credentials is passed on.
 */
export function pythonVariables(
  packageCache: string,
  env: NodeJS.ProcessEnv,
  isOthers: boolean,
): Record<string, string> {
  const passed = settings.flatMap((name): [string, string][] => {
    const value = env[name];
    return !value || (isOthers && hasCredentials(value)) ? [] : [[name, value]];
  });
  // pip reads the machine's own file in any case, and the one of HOME, which a build has of its own.
  const own = [env.PIP_CONFIG_FILE, env.HOME && join(env.HOME, '.config/pip/pip.conf')];
  const file = isOthers ? undefined : own.find((each) => each && existsSync(each));
  return {
    ...Object.fromEntries(passed),
    ...(file ? { PIP_CONFIG_FILE: file } : {}),
    ...uvFolders(Object.fromEntries(passed)),
    PIP_CACHE_DIR: join(packageCache, '_pip'),
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    PIP_RETRIES: '2',
    UV_CACHE_DIR: join(packageCache, '_uv'),
    // Files that are hard links to the cache would change with it.
    UV_LINK_MODE: 'copy',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    PYTHONUNBUFFERED: '1',
  };
}

/** The folders and addresses of packages that pip is told of, for uv, which fails for a folder that is missing. */
function uvFolders({ PIP_FIND_LINKS: links = '', UV_FIND_LINKS: own }: Record<string, string>): Record<string, string> {
  const there = links.split(/\s+/).filter((each) => each.includes('://') || (each !== '' && existsSync(each)));
  return own || there.length === 0 ? {} : { UV_FIND_LINKS: there.join(',') };
}

/** Whether the operator tells uv where packages are, and pip not. */
export const tellsUvAnIndex = (env: Readonly<Record<string, string>>): boolean =>
  ['UV_INDEX', 'UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_EXTRA_INDEX_URL'].some((name) => Boolean(env[name])) ||
  Boolean(env['UV_FIND_LINKS'] && !env['PIP_FIND_LINKS']);

/** The variables of a build's environment that decide where packages of Python come from. */
export const indexesOf = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries([...settings, 'PIP_CONFIG_FILE'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])));

/** The passwords in these settings. */
export const indexSecrets = (env: NodeJS.ProcessEnv): string[] =>
  settings
    .flatMap((name) => addressesIn(env[name] ?? ''))
    .flatMap(({ username, password }) => [password || username])
    .map((each) => unescape(each))
    .filter((each) => each !== '');
