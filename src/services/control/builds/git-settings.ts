import { dirname } from 'node:path';

/** The protocols that git may use. `file` is for folders that the operator allowed. */
export type GitProtocol = 'https' | 'http' | 'file';

/**
 * The only configuration file that git reads for a build. It disables helpers, hooks and filters of the user and the
 * machine, and every protocol but one, also after a redirect.
 *
 * `safe.directory` is open because folders are checked one by one before git sees them, and may have another owner.
 * Fetching a commit by its id is allowed so that an earlier revision can be built again.
 */
export const gitConfig = `[safe]
	directory = *
[core]
	hooksPath = /dev/null
	fsmonitor = false
	askPass =
[credential]
	helper =
[protocol]
	allow = never
[protocol "ext"]
	allow = never
[http]
	followRedirects = initial
	lowSpeedLimit = 1000
	lowSpeedTime = 60
[uploadpack]
	allowAnySHA1InWant = true
[submodule]
	recurse = false
[fetch]
	recurseSubmodules = false
[gc]
	auto = 0
[maintenance]
	auto = false
[init]
	defaultBranch = main
[advice]
	detachedHead = false
`;

/**
 * The variables that make git ignore other configuration, never prompt, and use one protocol. HOME is the service's own
 * folder: a build's user could put a `.netrc` or attributes in its own.
 */
export const gitVariables = (configFile: string, protocol: GitProtocol): Record<string, string> => ({
  HOME: dirname(configFile),
  TMPDIR: dirname(configFile),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: configFile,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_ALLOW_PROTOCOL: protocol,
  GIT_TERMINAL_PROMPT: '0',
  GIT_LFS_SKIP_SMUDGE: '1',
  GIT_NO_LAZY_FETCH: '1',
  LC_ALL: 'C',
});

/** The header with a token, as GitHub expects it from an installation: a secret like the token. */
const basicCredentials = (token: string): string => Buffer.from(`x-access-token:${token}`).toString('base64');

/** Every form of a token that must be masked in git's output. */
export const tokenSecrets = (token: string | undefined): string[] =>
  token === undefined ? [] : [token, basicCredentials(token)];

/**
 * The variables that authenticate git with a token: for this address only, and not for the target of a redirect. In the
 * environment of one command they appear in no process list and no configuration file.
 */
export const tokenVariables = (address: string, token: string | undefined): Record<string, string> =>
  token === undefined || !URL.canParse(address)
    ? {}
    : {
        GIT_CONFIG_COUNT: '2',
        GIT_CONFIG_KEY_0: 'http.followRedirects',
        GIT_CONFIG_VALUE_0: 'false',
        GIT_CONFIG_KEY_1: `http.${new URL(address).origin}/.extraHeader`,
        GIT_CONFIG_VALUE_1: `Authorization: Basic ${basicCredentials(token)}`,
      };

/** The ref to fetch for a `repo_ref`: a branch is its plain name, a tag its full path, none the repository's default. */
export function refToFetch(repoRef: string | undefined): string {
  if (repoRef === undefined) return 'HEAD';
  return repoRef.startsWith('refs/') ? repoRef : `refs/heads/${repoRef}`;
}

const explanations: readonly [printed: RegExp, meaning: (requested: { repoUrl: string; refText: string }) => string][] =
  [
    [
      /couldn't find remote ref|not our ref|no such remote ref/i,
      ({ repoUrl, refText }) =>
        `${repoUrl} has no ${refText}. Check source_revision_config.repo_ref: a branch is its plain name, a tag refs/tags/<name>.`,
    ],
    [
      /could not read Username|Authentication failed|terminal prompts disabled|returned error: 40[13]/i,
      ({ repoUrl }) =>
        `${repoUrl} is private or does not exist. To clone it, make the repository public, or name an integration that holds it in source_config.integration_id; else check source_config.repo_url.`,
    ],
    [
      /not found|does not appear to be a git repository|does not exist|not a git repository/i,
      ({ repoUrl }) => `There is no git repository at ${repoUrl}. Check source_config.repo_url.`,
    ],
    [
      /could not resolve host|failed to connect|connection (refused|timed out|reset)|unable to access/i,
      ({ repoUrl }) =>
        `${repoUrl} could not be reached from this machine. Check source_config.repo_url and the network.`,
    ],
  ];

/** Explains a failed fetch by git's output; undefined where the output is not recognized. */
export const knownExplanation = (output: string, requested: { repoUrl: string; refText: string }): string | undefined =>
  explanations.find(([sign]) => sign.test(output))?.[1](requested);

/** The same, with a general message for output that is not recognized. */
export const explainFetch = (output: string, requested: { repoUrl: string; refText: string }): string =>
  knownExplanation(output, requested) ?? `${requested.repoUrl} could not be cloned.`;

/** Whether git printed that a file became larger than it may (EFBIG). */
export const isFileTooLargeMessage = (output: string): boolean => /File too large/.test(output);
