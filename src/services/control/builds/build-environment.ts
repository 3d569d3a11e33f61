import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unescape } from 'node:querystring';
import { pathWithOurNode } from '../compute/agent-environment.ts';
import type { BuildFolder } from './build-folder.ts';
import { indexSecrets, pythonVariables } from './python/python-variables.ts';

const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];
const certificates = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const networkVariables = [...proxies, ...proxies.map((name) => name.toLowerCase()), ...certificates];

/** The npm settings that choose where packages come from. */
const npmSettings = ['registry', 'strict_ssl', 'cafile', 'proxy', 'https_proxy', 'noproxy'];
/** The npm settings that name configuration files; builds get those whose file exists. */
const npmFiles = ['userconfig', 'globalconfig'];

type Variable = [name: string, value: string | undefined];

const npmVariable = (env: NodeJS.ProcessEnv, name: string): Variable => [
  `npm_config_${name}`,
  env[`npm_config_${name}`] ?? env[`NPM_CONFIG_${name.toUpperCase()}`],
];

/**
 * The environment of a build's commands. Of `env` it has only the settings of network and registries. @param isOtherUser
 * whether another user builds: then npm's files, which may contain tokens, are replaced by their registry settings.
 */
export function buildEnvironment(
  folder: BuildFolder,
  packageCache: string,
  env: NodeJS.ProcessEnv,
  isOtherUser = false,
): Record<string, string> {
  const npmVariables = npmSettings.map((name) => npmVariable(env, name));
  const files = npmFiles.map((name) => npmVariable(env, name));
  if (npmVariable(env, 'userconfig')[1] === undefined && env.HOME) {
    files.push(['npm_config_userconfig', join(env.HOME, '.npmrc')]);
  }
  const existingFiles = files.filter(([, file]) => file !== undefined && existsSync(file));
  return {
    ...definedVariables(networkVariables.map((name) => [name, env[name]])),
    ...definedVariables(isOtherUser ? npmVariables.filter((variable) => !isSecretRegistry(variable)) : npmVariables),
    ...(isOtherUser ? Object.assign({}, ...existingFiles.map(publicSettings)) : definedVariables(existingFiles)),
    npm_config_cache: packageCache,
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    ...pythonVariables(packageCache, env, isOtherUser),
    PATH: pathWithOurNode(env.PATH ?? ''),
    HOME: folder.home,
    TMPDIR: folder.temporary,
    CI: '1',
    NO_COLOR: '1',
  };
}

/** The public settings of an npm configuration file: where packages come from, without credentials. */
function publicSettings([, file]: Variable): Record<string, string> {
  const settings = readFileSync(file ?? '', 'utf8')
    .split('\n')
    .map((line) => /^((?:@[\w.-]+:)?registry|strict-ssl|cafile)\s*=\s*(\S+)$/.exec(line.trim()) ?? []);
  return Object.fromEntries(
    settings.flatMap(([, name = '', value = '']) =>
      name === '' || hasCredentials(value) ? [] : [[`npm_config_${name.replace(/^strict-ssl$/, 'strict_ssl')}`, value]],
    ),
  );
}

const isSecretRegistry = ([name, value = '']: Variable): boolean =>
  name === 'npm_config_registry' && hasCredentials(value);

/** Whether a URL has a user or a password, which may be a token. */
const hasCredentials = (value: string): boolean =>
  URL.canParse(value) && `${new URL(value).username}${new URL(value).password}` !== '';

/** The variables of a build's environment that decide where its packages come from. */
export const registryOf = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => /^npm_config_(.*registry|userconfig|globalconfig)$/.test(name)),
  );

/** The secrets in the network variables: a proxy's user and password, and those of Python's package indexes. */
export function networkSecrets(env: NodeJS.ProcessEnv): string[] {
  const proxyPasswords = networkVariables
    .map((name) => env[name] ?? '')
    .filter((value) => URL.canParse(value))
    .map((value) => unescape(new URL(value).password))
    .filter((password) => password !== '');
  return [...proxyPasswords, ...indexSecrets(env)];
}

const definedVariables = (variables: readonly Variable[]): Record<string, string> =>
  Object.fromEntries(variables.flatMap(([name, value]) => (value ? [[name, value]] : [])));
