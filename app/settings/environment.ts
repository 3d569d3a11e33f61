import * as z from 'zod';
import { readAddress } from '../../src/kit/base-address.ts';
import { fieldNameSettings } from '../../src/contract/control/aliases.ts';
import { invalidInHeader } from '../../src/kit/base-address.ts';
import { withoutTrailingSlashes } from '../../src/kit/plain-text.ts';
import { readRsaKey } from '../../src/kit/rsa-key.ts';

/** Permits a repository to control a deployment that is built from another one. */
export interface Binding {
  /** `owner/name` in lower case, as GitHub compares names. */
  repository: string;
  /** The deployment's id or name. */
  deployment: string;
}

/** Shorter webhook secrets are too easy to guess. */
const minSecretLength = 16;

/** Example values that people copy, and Probot's default. */
const knownSecrets = new Set(['development', 'secret', 'changeme', 'your-webhook-secret']);

const missing = { error: 'is missing' };
const text = z.string(missing);
const optional = z.string().optional();

const secretProblem = (value: string): string | undefined => {
  if (knownSecrets.has(value.toLowerCase())) return 'is a secret that everybody knows';
  return value.length < minSecretLength
    ? `has ${value.length} characters; ${minSecretLength} are the least`
    : undefined;
};
const secret = <Schema extends z.ZodType<string | undefined>>(schema: Schema): Schema =>
  checkedBy(schema, secretProblem);

/** A schema check with its own message. */
function checkedBy<Schema extends z.ZodType<string | undefined>>(
  schema: Schema,
  problemOf: (value: string) => string | undefined,
): Schema {
  return schema.superRefine((value, context) => {
    const problem = value === undefined ? undefined : problemOf(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

/** The problem of an address. `plainHttp` checks whether plain http is allowed. */
const addressProblem = (value: string): string | undefined => {
  const read = readAddress(value, { allowHttp: true });
  return read.ok ? undefined : `is no address that can be used: ${read.problem}`;
};

const headerProblem = (value: string): string | undefined => invalidInHeader('', value)?.trim();

const databaseProblem = (value: string): string | undefined => {
  const scheme = URL.canParse(value) ? new URL(value).protocol : undefined;
  const fits = scheme === 'postgres:' || scheme === 'postgresql:';
  return fits ? undefined : 'is no address of a Postgres database: write postgres://user:password@host:5432/database';
};

/** A value, or a problem that continues the variable's name. */
type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string };

/** A transformation that fails with its own message. */
const transformBy =
  <Value>(read: (text: string) => Read<Value>) =>
  (text: string, context: z.RefinementCtx): Value => {
    const result = read(text);
    if (result.ok) return result.value;
    context.addIssue({ code: 'custom', message: result.problem });
    return z.NEVER;
  };

const number = (min: number, max: number, what: string) =>
  text.transform(
    transformBy((written) => {
      const value = /^\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
      return value >= min && value <= max ? { ok: true, value } : { ok: false, problem: `is ${what}` };
    }),
  );

/**
 * The App's variables and their rules. A message completes a sentence that starts with the variable's name; none shows
 * a value that may be secret.
 */
export const environment = z.object({
  APP_ID: number(1, Number.MAX_SAFE_INTEGER, 'a whole number'),
  PRIVATE_KEY: text.transform(transformBy(readPrivateKey)),
  WEBHOOK_SECRET: secret(text),
  WEBHOOK_SECRET_PREVIOUS: secret(optional),
  GITHUB_API_URL: checkedBy(z.string().default('https://api.github.com'), addressProblem).transform(
    withoutTrailingSlashes,
  ),
  LANDFALL_BASE_URL: checkedBy(text, addressProblem).transform(withoutTrailingSlashes),
  LANDFALL_API_KEY: checkedBy(text, headerProblem),
  LANDFALL_TENANT_ID: checkedBy(optional, headerProblem),
  LANDFALL_FIELD_NAMES: z
    .enum(fieldNameSettings, { error: `is one of ${fieldNameSettings.join(', ')}` })
    .default('auto'),
  LANDFALL_BUILDER: z.enum(['app', 'service'], { error: 'is app or service' }).default('app'),
  LANDFALL_BINDINGS: z.string().default('').transform(transformBy(readBindings)),
  LANDFALL_GRADERS: z.string().default('https://api.openai.com/v1').transform(transformBy(readAddresses)),
  LANDFALL_PREVIEW_SECRETS: optional,
  LANDFALL_ALLOW_HTTP: z
    .enum(['true', 'false'], { error: 'is true or false' })
    .default('false')
    .transform((word) => word === 'true'),
  LANDFALL_DATA: z.string().default('.landfall/app'),
  PUBLIC_URL: checkedBy(optional, addressProblem).transform((value) =>
    value === undefined ? undefined : withoutTrailingSlashes(value),
  ),
  DATABASE_URL: checkedBy(optional, databaseProblem),
  HOST: z.string().default('127.0.0.1'),
  PORT: number(0, 65_535, 'a port from 0 to 65535').default(3000),
});

/** The name of one of our variables. `PRIVATE_KEY_PATH` can replace `PRIVATE_KEY`. */
export type Variable = keyof typeof environment.shape | 'PRIVATE_KEY_PATH';

/** Variables with an address that keys or tokens are sent to. */
export const addresses = ['GITHUB_API_URL', 'LANDFALL_BASE_URL', 'PUBLIC_URL'] as const satisfies readonly Variable[];

function readPrivateKey(written: string): Read<string> {
  const key = readRsaKey(written);
  if (key.kind === 'key') return { ok: true, value: key.pem };
  return key.kind === 'unframed'
    ? { ok: false, problem: 'is no private key: it holds the whole .pem file, in base64 if you like' }
    : { ok: false, problem: 'is damaged or no RSA key: copy the whole .pem file again' };
}

/** Reads addresses, separated by commas, and removes trailing slashes. */
function readAddresses(text: string): Read<string[]> {
  const written = text.split(',').map((part) => part.trim());
  const addresses = written.filter((part) => part !== '' && part !== 'none').map(withoutTrailingSlashes);
  const wrong = addresses.map(addressProblem).find((problem) => problem !== undefined);
  return wrong === undefined ? { ok: true, value: addresses } : { ok: false, problem: wrong };
}

const bindingPattern = /^([\w.-]+\/[\w.-]+)\s*=\s*(\S.*)$/;

/** Reads bindings `owner/name=deployment`, separated by line breaks or commas. */
function readBindings(text: string): Read<Binding[]> {
  const bindings: Binding[] = [];
  for (const written of text.split(/[\n,]/).map((part) => part.trim())) {
    if (written === '') continue;
    const [, repository, deployment] = bindingPattern.exec(written) ?? [];
    if (repository === undefined || deployment === undefined) {
      return { ok: false, problem: `has ${JSON.stringify(written)}: write owner/name=deployment, one per line` };
    }
    bindings.push({ repository: repository.toLowerCase(), deployment });
  }
  return { ok: true, value: bindings };
}
