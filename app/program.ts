import type { Logger } from '../src/kit/logger.ts';
import { createProgramLogger } from '../src/kit/program-logger.ts';
import { messageOf } from '../src/kit/errors.ts';
import { systemClock } from '../src/kit/clock.ts';
import { strictMaskOf } from '../src/contract/masking/mask.ts';
import { runUntilSignal } from '../src/kit/run-until-signal.ts';
import type { RunningApp, StartOptions } from './start.ts';
import { webhookPaths } from './server/webhook-route.ts';
import {
  formatProblems,
  readSettings,
  type Settings,
  mistypedVariables,
  readTextFile,
  variablesHere,
} from './settings/read-settings.ts';
import { withoutFullStop } from '../src/kit/plain-text.ts';
import type { ControlService } from '../src/contract/control/service.ts';

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const printError = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the App as this process until shutdown, and exits: with 2 where its settings are invalid. */
export const runAppProgram = (createAppWork: StartOptions['createAppWork']): Promise<never> =>
  runUntilSignal(async (leave) => {
    let app: RunningApp;
    let log: Logger;
    try {
      const { env } = process;
      const variables = variablesHere(process.cwd(), env);
      const read = readSettings(variables, readTextFile);
      for (const note of mistypedVariables(variables)) printError(note);
      if (!read.ok) {
        printError(formatProblems(read.problems, read.hasNoService));
        return 2;
      }
      const { settings } = read;
      const mask = strictMaskOf(secretsOf(settings));
      const write = (line: string): void => say(mask(line));
      log = createProgramLogger({ name: 'app', env, isTerminal: process.stdout.isTTY, mask, write });
      // Loaded late, so that invalid settings are reported at once.
      const { startApp } = await import('./start.ts');
      app = await startApp({ settings, clock: systemClock, log, createAppWork });
      for (const line of banner(settings, app)) say(line);
    } catch (error) {
      printError(`The App did not start: ${messageOf(error)}`);
      return 1;
    }
    void observe(app, log);
    await leave;
    log.info('Shutting down: finishing open requests');
    await app.close();
    return 0;
  });

/** Secrets to redact in every output. */
const secretsOf = ({ github, service, databaseUrl }: Settings): string[] => [
  ...github.webhookSecrets,
  github.privateKey,
  service.apiKey,
  ...(databaseUrl === undefined ? [] : [new URL(databaseUrl).password]),
];

const banner = (settings: Settings, { url, embedded }: RunningApp): string[] => [
  `The App listens at ${url}`,
  `  Webhooks:        ${settings.publicUrl ?? url}${webhookPaths[1]}`,
  `  Control service: ${settings.service.baseUrl}, pushes are built by ${settings.builder === 'app' ? 'this App' : 'the service'}`,
  `  Database:        ${embedded ? `its own, in ${settings.dataDir}` : 'the one at DATABASE_URL'}`,
  ...(settings.publicUrl === undefined ? ['  No PUBLIC_URL: smoke tests are followed by asking, not by webhook.'] : []),
  ...settings.bindings.map(({ repository, deployment }) => `  ${repository} may act on deployment ${deployment}.`),
];

async function observe({ resources, context }: RunningApp, log: Logger): Promise<void> {
  const { settings, probot } = resources;
  const appName = async (): Promise<string> => {
    const { data } = await (await probot.auth()).request('GET /app');
    return data?.slug ?? data?.name ?? 'an App without a name';
  };
  const [{ apiUrl }, { baseUrl }] = [settings.github, settings.service];
  for (const line of await startupCheck({ control: context.control, appName, apiUrl, baseUrl })) log.info(line);
}

/** Options of the check at startup, which shows wrong settings early. */
interface StartupCheckOptions {
  control: Pick<ControlService, 'listDeployments'>;
  /** The App's own name at GitHub. */
  appName: () => Promise<string>;
  apiUrl: string;
  baseUrl: string;
}

/** Checks GitHub and the control service, and returns one sentence each. The App starts in any case. */
export async function startupCheck({ control, appName, apiUrl, baseUrl }: StartupCheckOptions): Promise<string[]> {
  const github = appName().then(
    (name) => `GitHub at ${apiUrl} knows this App as ${name}.`,
    (error: unknown) =>
      // Octokit reports a request without a response as a 500 that has no `response`.
      error instanceof Error && 'response' in error && error.response !== undefined
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

const counted = (count: number): string => {
  if (count >= 100) return '100 deployments or more';
  return count === 1 ? 'one deployment' : `${count} deployments`;
};

const wordsOf = (error: unknown): string => withoutFullStop(messageOf(error));
