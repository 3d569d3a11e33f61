import { messageOf } from '../../../kit/errors.ts';
import { readAddress } from '../../../kit/base-address.ts';
import { readRsaKey } from '../../../kit/rsa-key.ts';
import type { GithubAppDependencies } from './github-app.ts';

/** The GitHub App of the service, none, or the problem with its settings. */
export type GithubSettings =
  | { kind: 'app'; app: Pick<GithubAppDependencies, 'appId' | 'privateKey' | 'apiUrl'> }
  | { kind: 'none' }
  | { kind: 'problem'; problem: string };

export interface GithubFlags {
  appId: string | undefined;
  keyFile: string | undefined;
  apiUrl: string | undefined;
}

/**
 * Reads the service's GitHub App from its flags and from the App's own variables: `APP_ID`, `PRIVATE_KEY` or
 * `PRIVATE_KEY_PATH`, `GITHUB_API_URL`. Incomplete flags are an error; incomplete variables are ignored.
 */
export function readGithubSettings(
  flags: GithubFlags,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): GithubSettings {
  const variable = (name: string): string | undefined => env[name]?.trim() || undefined;
  const problem = (text: string): GithubSettings => ({ kind: 'problem', problem: text });
  const appId = flags.appId ?? variable('APP_ID');
  const keyFile = flags.keyFile ?? variable('PRIVATE_KEY_PATH');
  const isRequested = flags.appId !== undefined || flags.keyFile !== undefined || flags.apiUrl !== undefined;
  const keyText = flags.keyFile === undefined ? variable('PRIVATE_KEY') : undefined;
  if (appId === undefined || (keyFile === undefined && keyText === undefined)) {
    return isRequested
      ? problem(
          'A GitHub App takes --github-app-id and --github-private-key-file, or APP_ID and PRIVATE_KEY_PATH in the environment.',
        )
      : { kind: 'none' };
  }
  if (!/^[1-9]\d{0,14}$/.test(appId)) return problem(`--github-app-id ${appId} is no number of a GitHub App.`);
  let text = keyText;
  try {
    text ??= readFile(keyFile ?? '');
  } catch (error) {
    return problem(`--github-private-key-file ${keyFile} can't be read: ${messageOf(error)}.`);
  }
  const key = readRsaKey(text);
  if (key.kind !== 'key') {
    return problem('The private key of the GitHub App is invalid. Use the whole .pem file that GitHub issued.');
  }
  const address = readAddress(flags.apiUrl ?? variable('GITHUB_API_URL') ?? 'https://api.github.com');
  if (!address.ok) return problem(`--github-api-url ${address.shown}: ${address.problem}.`);
  const { origin, prefix } = address.address;
  return { kind: 'app', app: { appId: Number(appId), privateKey: key.pem, apiUrl: `${origin}${prefix}` } };
}
