import { withoutFullStop } from '../../src/contract/plain-text.ts';
import { messageOf } from '../../src/errors.ts';
import type { ControlService } from '../../src/contract/control/service.ts';

/** Options of the check at startup, which shows wrong settings early. */
export interface StartupCheckOptions {
  control: Pick<ControlService, 'listDeployments'>;
  /** The App's own name at GitHub. */
  appName: () => Promise<string>;
  apiUrl: string;
  baseUrl: string;
}

/**
 * Checks GitHub and the control service, and returns one sentence each. A failure is reported; the App starts anyway.
 */
export async function startupCheck({ control, appName, apiUrl, baseUrl }: StartupCheckOptions): Promise<string[]> {
  const github = appName().then(
    (name) => `GitHub at ${apiUrl} knows this App as ${name}.`,
    (error: unknown) =>
      isAnswer(error)
        ? `GitHub at ${apiUrl} does not know this App (${wordsOf(error)}). Check APP_ID, PRIVATE_KEY and GITHUB_API_URL.`
        : `GitHub at ${apiUrl} could not be reached (${wordsOf(error)}). Check the network, the proxy and GITHUB_API_URL.`,
  );
  const service = control.listDeployments({ limit: 100 }).then(
    ({ resources }) => `The control service at ${baseUrl} has ${counted(resources.length)}.`,
    (error: unknown) =>
      `The control service at ${baseUrl} did not list its deployments (${wordsOf(error)}). Check LANDFALL_BASE_URL, LANDFALL_API_KEY and LANDFALL_TENANT_ID.`,
  );
  return Promise.all([github, service]);
}

/** Octokit reports a request without a response as a 500 that has no `response`. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Error && 'response' in error && error.response !== undefined;

const counted = (count: number): string => {
  if (count >= 100) return '100 deployments or more';
  return count === 1 ? 'one deployment' : `${count} deployments`;
};

const wordsOf = (error: unknown): string => withoutFullStop(messageOf(error));
