import { isLoopback } from '../../src/contract/base-address.ts';
import { addresses, environment } from './environment.ts';
import type { Variable } from './environment.ts';
import type { Settings } from './settings.ts';
import { whereToFind } from './where-to-find.ts';

/** Variables by name, as `process.env` has them. An empty one counts as absent. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** One variable that is missing or wrong. Nothing secret is in it. */
export interface SettingProblem {
  variable: Variable;
  /** The end of a sentence that the variable's name begins. */
  problem: string;
  /** Where to find or create its value. */
  where: string;
}

/** The settings, or every problem at once. */
export type ReadSettings =
  | { ok: true; settings: Settings }
  /** `serviceless`: no control service is configured, so that the message can suggest to start ours. */
  | { ok: false; problems: SettingProblem[]; serviceless: boolean };

/** The text of a file, or why it can't be read. */
export type ReadFile = (path: string) => { ok: true; text: string } | { ok: false; why: string };

/** Reads the App's settings from its environment. */
export function readSettings(variables: Variables, readFile: ReadFile): ReadSettings {
  const given = Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  const key = privateKeyOf(given, readFile);
  const read = environment.safeParse({ ...given, ...('text' in key ? { PRIVATE_KEY: key.text } : {}) });
  const issues = read.success ? [] : read.error.issues;
  const problems = [
    ...('problem' in key ? [problem('PRIVATE_KEY_PATH', key.problem)] : []),
    ...issues.flatMap(({ path: [name], message }) => {
      const variable = variableNamed(name);
      const reported = 'problem' in key && variable === 'PRIVATE_KEY';
      return variable === undefined || reported ? [] : [problem(variable, message)];
    }),
    ...plainHttp(given),
    ...sameSecrets(given),
  ];
  if (read.success && problems.length === 0) return { ok: true, settings: settingsOf(read.data) };
  const serviceless = given['LANDFALL_BASE_URL'] === undefined && given['LANDFALL_API_KEY'] === undefined;
  return { ok: false, problems, serviceless };
}

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

type Given = Readonly<Record<string, string>>;

function privateKeyOf(
  given: Given,
  readFile: ReadFile,
): { text: string } | { problem: string } | Record<string, never> {
  const path = given['PRIVATE_KEY_PATH'];
  if (given['PRIVATE_KEY'] !== undefined || path === undefined) return {};
  const read = readFile(path);
  return read.ok ? { text: read.text } : { problem: `names ${path}, which can't be read (${read.why})` };
}

/** Keys and tokens travel to these addresses. */
function plainHttp(given: Given): SettingProblem[] {
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

function sameSecrets(given: Given): SettingProblem[] {
  const [now, before] = [given['WEBHOOK_SECRET'], given['WEBHOOK_SECRET_PREVIOUS']];
  if (now === undefined || now !== before) return [];
  return [problem('WEBHOOK_SECRET_PREVIOUS', 'holds the same as WEBHOOK_SECRET')];
}

function settingsOf(read: ReturnType<typeof environment.parse>): Settings {
  const former = read.WEBHOOK_SECRET_PREVIOUS;
  return {
    github: {
      appId: read.APP_ID,
      privateKey: read.PRIVATE_KEY,
      webhookSecrets: [read.WEBHOOK_SECRET, ...(former === undefined ? [] : [former])],
      apiUrl: read.GITHUB_API_URL,
    },
    service: {
      baseUrl: read.LANDFALL_BASE_URL,
      apiKey: read.LANDFALL_API_KEY,
      tenantId: read.LANDFALL_TENANT_ID,
      spelling: read.LANDFALL_FIELD_NAMES,
    },
    builder: read.LANDFALL_BUILDER,
    bindings: read.LANDFALL_BINDINGS,
    publicUrl: read.PUBLIC_URL,
    databaseUrl: read.DATABASE_URL,
    dataDir: read.LANDFALL_DATA,
    host: read.HOST,
    port: read.PORT,
    allowHttp: read.LANDFALL_ALLOW_HTTP,
  };
}
