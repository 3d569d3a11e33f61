import { messageOf } from '../src/errors.ts';
import { systemClock } from '../src/clock.ts';
import { strictMaskOf } from '../src/contract/mask.ts';
import { runUntilSignal } from '../src/run-until-signal.ts';
import type { AppResources, AppWork } from './resources.ts';
import { startupCheck } from './operate/startup-check.ts';
import { logLine } from './operate/log-line.ts';
import { webhookPaths } from './server/webhook-route.ts';
import { readSettings, formatProblems, type Variables } from './settings/read-settings.ts';
import type { Settings } from './settings/settings.ts';
import { mistypedVariables, readTextFile, variablesHere } from './settings/variables.ts';
import type { RunningApp } from './start.ts';
import type { AppContext } from './context.ts';

/** The program's environment. */
export interface ProgramEnvironment {
  folder: string;
  env: Variables;
  /** Standard output: what was found. */
  say: (text: string) => void;
  /** Standard error: what is wrong. */
  printError: (text: string) => void;
  /** Resolves on a shutdown signal. */
  leave: Promise<void>;
  makeWork: (resources: AppResources) => Promise<AppWork>;
}

/** Runs the App until it is stopped; returns the exit code: 2 where its settings are invalid. */
async function runApp(around: ProgramEnvironment): Promise<number> {
  const { folder, env, say, printError, leave, makeWork } = around;
  let app: RunningApp;
  let log: AppContext['log'] = printError;
  try {
    const variables = variablesHere(folder, env);
    const read = readSettings(variables, readTextFile);
    for (const note of mistypedVariables(variables)) printError(note);
    if (!read.ok) {
      printError(formatProblems(read.problems, read.serviceless));
      return 2;
    }
    const { settings } = read;
    const mask = strictMaskOf(secretsOf(settings));
    log = (message, fields) => say(mask(logLine(new Date(systemClock.now()), message, fields)));
    // Loaded late, so that invalid settings are reported at once.
    const { startApp } = await import('./start.ts');
    app = await startApp({ settings, clock: systemClock, log, makeWork });
    for (const line of banner(settings, app)) say(line);
  } catch (error) {
    printError(`The App did not start: ${messageOf(error)}`);
    return 1;
  }
  void lookAround(app, log);
  await leave;
  log('Shutting down: finishing open requests');
  await app.close();
  return 0;
}

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

async function lookAround({ resources, context }: RunningApp, log: AppContext['log']): Promise<void> {
  const { settings, probot } = resources;
  const appName = async (): Promise<string> => {
    const { data } = await (await probot.auth()).request('GET /app');
    return data?.slug ?? data?.name ?? 'an App without a name';
  };
  const { apiUrl } = settings.github;
  for (const line of await startupCheck({
    control: context.control,
    appName,
    apiUrl,
    baseUrl: settings.service.baseUrl,
  })) {
    log(line);
  }
}

/** Runs the App as this process until shutdown, and exits. */
export const runAppProgram = (makeWork: ProgramEnvironment['makeWork']): Promise<never> =>
  runUntilSignal((leave) =>
    runApp({
      folder: process.cwd(),
      env: process.env,
      say: (text) => process.stdout.write(`${text}\n`),
      printError: (text) => process.stderr.write(`${text}\n`),
      leave,
      makeWork,
    }),
  );
