import { isLoopback } from '../../src/kit/base-address.ts';
import { addresses, environment, type Variable } from './environment.ts';
import { type PreviewSecrets, readPreviewSecrets } from './preview-secrets.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { hasCode, messageOf } from '../../src/kit/errors.ts';
import { didYouMean } from '../../src/kit/diagnostics/did-you-mean.ts';

/** Variables by name, as `process.env` has them. An empty one counts as absent. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** A missing or invalid variable. Contains no secret. */
export interface SettingProblem {
  variable: Variable;
  /** Continues the variable's name as a sentence. */
  problem: string;
  /** Where to find or create its value. */
  where: string;
}

/** The App's settings. Keys and secrets in it must never be shown. Addresses have no trailing slash. */
export type Settings = ReturnType<typeof settingsOf>;

/** The settings, or every problem at once. */
export type ReadSettings =
  | { ok: true; settings: Settings }
  /** `hasNoService`: no control service is configured, so the message suggests starting one. */
  | { ok: false; problems: SettingProblem[]; hasNoService: boolean };

/** The text of a file, or why it can't be read. */
export type ReadFile = (path: string) => { ok: true; text: string } | { ok: false; why: string };

/** Reads the App's settings from its environment. */
export function readSettings(variables: Variables, readFile: ReadFile): ReadSettings {
  const nonEmpty = Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  const key = privateKeyOf(nonEmpty, readFile);
  const previews = previewSecretsIn(nonEmpty, readFile);
  const read = environment.safeParse({ ...nonEmpty, ...('text' in key ? { PRIVATE_KEY: key.text } : {}) });
  const issues = read.success ? [] : read.error.issues;
  const problems = [
    ...('problem' in key ? [problem('PRIVATE_KEY_PATH', key.problem)] : []),
    ...('problem' in previews ? [problem('LANDFALL_PREVIEW_SECRETS', previews.problem)] : []),
    ...issues.flatMap(({ path: [name], message }) => {
      const variable = variableNamed(name);
      const reported = 'problem' in key && variable === 'PRIVATE_KEY';
      return variable === undefined || reported ? [] : [problem(variable, message)];
    }),
    ...plainHttp(nonEmpty),
    ...sameSecrets(nonEmpty),
  ];
  if (read.success && problems.length === 0 && 'secrets' in previews) {
    return { ok: true, settings: settingsOf(read.data, previews.secrets) };
  }
  const hasNoService = nonEmpty['LANDFALL_BASE_URL'] === undefined && nonEmpty['LANDFALL_API_KEY'] === undefined;
  return { ok: false, problems, hasNoService };
}

const appPage = "GitHub: Settings, Developer settings, GitHub Apps, Edit (an organisation's are in its own settings)";
const secretField = `${appPage}, Webhook, Secret. Make one with: openssl rand -hex 32`;

/** Where to find or create the value of each variable. */
const whereToFind: Readonly<Record<Variable, string>> = {
  APP_ID: `${appPage}, General, About: App ID. \`npm run setup\` makes an App and writes all of this down.`,
  PRIVATE_KEY: `${appPage}, General, Private keys, Generate a private key. Set PRIVATE_KEY_PATH to the .pem file, or PRIVATE_KEY to what is in it (base64 -w0 FILE makes one line of it).`,
  PRIVATE_KEY_PATH: `The .pem file that GitHub gave you at ${appPage}, General, Private keys.`,
  WEBHOOK_SECRET: `${secretField}, and write the same in both places.`,
  WEBHOOK_SECRET_PREVIOUS:
    'The secret that WEBHOOK_SECRET held before, for as long as deliveries signed with it may come; leave it out otherwise.',
  GITHUB_API_URL:
    'Leave it out for github.com; GitHub Enterprise Server has https://HOST/api/v3, GHE.com https://api.SUBDOMAIN.ghe.com.',
  LANDFALL_BASE_URL:
    'The address of your control service, with its path if it has one. `npm run local` starts one on this machine and prints it.',
  LANDFALL_API_KEY:
    'The settings of your control service, API keys. `npm run local` prints the one of the service on this machine.',
  LANDFALL_TENANT_ID:
    'The settings of your control service, workspace; only keys of an organisation need it. `npm run local` prints it.',
  LANDFALL_FIELD_NAMES: 'Leave it out: the App sends no field whose spelling differs between services.',
  LANDFALL_BUILDER:
    'app: this App requests a revision on each push. service: the hosted service builds pushes by itself, and the App follows them.',
  LANDFALL_BINDINGS:
    'Needed only for a repository that controls a deployment built from another one: owner/name=deployment, one per line.',
  LANDFALL_GRADERS:
    'The addresses of models that may grade the answers of smoke tests, with commas between them; none for no grading.',
  LANDFALL_PREVIEW_SECRETS:
    'A JSON file with the values of the secrets that deploy files name for previews: {"owner/name": {"NAME": "value"}}. Never those of production.',
  LANDFALL_ALLOW_HTTP: 'Set it to true only where the network between is yours: keys travel in clear.',
  LANDFALL_DATA: 'A folder that this process may write to; the embedded database is kept in it.',
  PUBLIC_URL:
    'The address at which this App is reached from outside; the webhook address at GitHub begins with it. Leave it out where there is none.',
  DATABASE_URL:
    "Your Postgres provider's page, or leave it out: then a Postgres of the App's own runs on this machine.",
  HOST: 'The address of this machine to listen at: 127.0.0.1, or 0.0.0.0 for all, as in a container.',
  PORT: 'The port to listen at; 3000 unless it is taken.',
};

const problem = (variable: Variable, text: string): SettingProblem => ({
  variable,
  problem: text,
  where: whereToFind[variable],
});

/** The variables by their names. */
export const variableNames = Object.keys(whereToFind);

const isVariable = (name: string): name is Variable => variableNames.includes(name);
const variableNamed = (name: unknown): Variable | undefined =>
  typeof name === 'string' && isVariable(name) ? name : undefined;

type NonEmptyVariables = Readonly<Record<string, string>>;

function privateKeyOf(
  given: NonEmptyVariables,
  readFile: ReadFile,
): { text: string } | { problem: string } | Record<string, never> {
  const path = given['PRIVATE_KEY_PATH'];
  if (given['PRIVATE_KEY'] !== undefined || path === undefined) return {};
  const read = readFile(path);
  return read.ok ? { text: read.text } : { problem: `names ${path}, which can't be read (${read.why})` };
}

/** Reports plain http addresses, because keys and tokens are sent to them. */
function plainHttp(given: NonEmptyVariables): SettingProblem[] {
  if (given['LANDFALL_ALLOW_HTTP'] === 'true') return [];
  return addresses.flatMap((variable) => {
    const written = given[variable];
    if (written === undefined || !URL.canParse(written)) return [];
    const { protocol, hostname } = new URL(written);
    if (protocol !== 'http:' || isLoopback(hostname)) return [];
    const text = 'is plain http: use https, or set LANDFALL_ALLOW_HTTP=true if the network between is yours';
    return [problem(variable, text)];
  });
}

function sameSecrets(given: NonEmptyVariables): SettingProblem[] {
  const [now, before] = [given['WEBHOOK_SECRET'], given['WEBHOOK_SECRET_PREVIOUS']];
  if (now === undefined || now !== before) return [];
  return [problem('WEBHOOK_SECRET_PREVIOUS', 'holds the same as WEBHOOK_SECRET')];
}

/** The values of previews; none where no file is named. */
function previewSecretsIn(
  given: NonEmptyVariables,
  readFile: ReadFile,
): { secrets: PreviewSecrets } | { problem: string } {
  const path = given['LANDFALL_PREVIEW_SECRETS'];
  if (path === undefined) return { secrets: new Map() };
  const file = readFile(path);
  if (!file.ok) return { problem: `names ${path}, which can't be read (${file.why})` };
  const read = readPreviewSecrets(file.text);
  return read.ok ? { secrets: read.secrets } : { problem: read.problem };
}

function settingsOf(read: ReturnType<typeof environment.parse>, previewSecrets: PreviewSecrets) {
  const previousSecret = read.WEBHOOK_SECRET_PREVIOUS;
  // The current secret, and the previous one during a rotation.
  const webhookSecrets: readonly [string, ...string[]] = [
    read.WEBHOOK_SECRET,
    ...(previousSecret === undefined ? [] : [previousSecret]),
  ];
  return {
    github: {
      appId: read.APP_ID,
      /** PEM with its line breaks. */
      privateKey: read.PRIVATE_KEY,
      webhookSecrets,
      apiUrl: read.GITHUB_API_URL,
    },
    service: {
      baseUrl: read.LANDFALL_BASE_URL,
      apiKey: read.LANDFALL_API_KEY,
      tenantId: read.LANDFALL_TENANT_ID,
      spelling: read.LANDFALL_FIELD_NAMES,
    },
    /** Who creates the revision of a push. */
    builder: read.LANDFALL_BUILDER,
    bindings: read.LANDFALL_BINDINGS,
    /** Addresses that answers may be sent to for grading. */
    graderUrls: read.LANDFALL_GRADERS,
    /** The values of the secrets that deploy files name for previews. */
    previewSecrets,
    /** The address at which people and agents reach this App. */
    publicUrl: read.PUBLIC_URL,
    /** Contains user and password; without it, the embedded database in `dataDir` is used. */
    databaseUrl: read.DATABASE_URL,
    dataDir: read.LANDFALL_DATA,
    host: read.HOST,
    port: read.PORT,
    /** Whether plain http is also allowed outside of loopback. */
    allowHttp: read.LANDFALL_ALLOW_HTTP,
  };
}

/** Formats configuration errors: every variable, what is wrong, and where to find its value. */
export function formatProblems(problems: readonly SettingProblem[], hasNoService: boolean): string {
  const count = problems.length === 1 ? 'one variable is' : `${problems.length} variables are`;
  return [
    `The App did not start: ${count} missing or wrong. Set them in the environment or in a file .env here.`,
    '',
    ...problems.flatMap(({ variable, problem, where }) => [`  ${variable} ${problem}.`, `      ${where}`]),
    ...(hasNoService ? ['', startServiceHint] : []),
  ].join('\n');
}

const startServiceHint = `No control service is named. To have one on this machine, run this in another terminal and copy what it prints:

  npm run local

    LANDFALL_BASE_URL is the address, LANDFALL_API_KEY the X-Api-Key, LANDFALL_TENANT_ID the X-Tenant-Id.`;

/**
 * The variables of a process and of the file `.env` in its working folder. The process's own ones win, unless they are
 * empty.
 *
 * @throws Error if the file exists but can't be read.
 */
export function variablesHere(folder: string, own: Variables): Variables {
  const file = join(folder, '.env');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return own;
    throw new Error(`${file} can't be read (${messageOf(error)}). Let this user read it, or remove it.`, {
      cause: error,
    });
  }
  const ownValues = Object.entries(own).filter(([, value]) => value !== undefined && value.trim() !== '');
  return { ...parseEnv(text), ...Object.fromEntries(ownValues) };
}

/** Warnings about variables that look like a misspelled one of ours. */
export function mistypedVariables(variables: Variables): string[] {
  return Object.keys(variables).flatMap((name) => {
    if (variableNames.includes(name) || !/^(LANDFALL_|WEBHOOK_|PRIVATE_KEY)/.test(name)) return [];
    const suggestion = didYouMean(name, variableNames);
    return suggestion === undefined ? [] : [`${name} is no setting of the App; did you mean ${suggestion}?`];
  });
}

/** Reads a text file relative to the working folder. */
export const readTextFile: ReadFile = (path) => {
  try {
    return { ok: true, text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
};
