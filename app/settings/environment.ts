import { createPrivateKey } from 'node:crypto';
import * as z from 'zod';
import { readAddress } from '../../src/contract/base-address.ts';
import { fieldSpellings } from '../../src/contract/control/aliases.ts';
import { invalidInHeader } from '../../src/contract/header-value.ts';
import { withoutTrailingSlashes } from '../../src/contract/plain-text.ts';
import type { Binding } from './settings.ts';

/** Shorter webhook secrets are guessed too easily. */
const shortestSecret = 16;

/** Example values that people copy, and Probot's default. */
const knownSecrets = new Set(['development', 'secret', 'changeme', 'your-webhook-secret']);

const missing = { error: 'is missing' };
const text = z.string(missing);
const optional = z.string().optional();

const secretProblem = (value: string): string | undefined => {
  if (knownSecrets.has(value.toLowerCase())) return 'is a secret that everybody knows';
  return value.length < shortestSecret ? `has ${value.length} characters; ${shortestSecret} are the least` : undefined;
};
const secret = <Schema extends z.ZodType<string | undefined>>(schema: Schema): Schema => judged(schema, secretProblem);

/** A schema check with its own message. */
function judged<Schema extends z.ZodType<string | undefined>>(
  schema: Schema,
  judge: (value: string) => string | undefined,
): Schema {
  return schema.superRefine((value, context) => {
    const problem = value === undefined ? undefined : judge(value);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });
}

/** Whether plain http is allowed is another variable's matter, see `plainHttp`. */
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

const wholeNumber = (value: string, most: number): number | undefined =>
  /^\d{1,15}$/.test(value) && Number(value) <= most ? Number(value) : undefined;

const number = (least: number, most: number, what: string) =>
  z.string(missing).transform((value, context) => {
    const read = wholeNumber(value, most);
    if (read !== undefined && read >= least) return read;
    context.addIssue({ code: 'custom', message: `is ${what}` });
    return z.NEVER;
  });

/**
 * The App's variables and their rules. A message completes a sentence that starts with the variable's name; none shows
 * a value that may be secret.
 */
export const environment = z.object({
  APP_ID: number(1, Number.MAX_SAFE_INTEGER, 'a whole number'),
  PRIVATE_KEY: text.transform((value, context) => {
    const read = readPrivateKey(value);
    if (read.ok) return read.pem;
    context.addIssue({ code: 'custom', message: read.problem });
    return z.NEVER;
  }),
  WEBHOOK_SECRET: secret(text),
  WEBHOOK_SECRET_PREVIOUS: secret(optional),
  GITHUB_API_URL: judged(z.string().default('https://api.github.com'), addressProblem).transform(
    withoutTrailingSlashes,
  ),
  LANDFALL_BASE_URL: judged(text, addressProblem).transform(withoutTrailingSlashes),
  LANDFALL_API_KEY: judged(text, headerProblem),
  LANDFALL_TENANT_ID: judged(optional, headerProblem),
  LANDFALL_FIELD_NAMES: z.enum(fieldSpellings, { error: `is one of ${fieldSpellings.join(', ')}` }).default('contract'),
  LANDFALL_BUILDER: z.enum(['app', 'service'], { error: 'is app or service' }).default('app'),
  LANDFALL_BINDINGS: z
    .string()
    .default('')
    .transform((value, context) => {
      const read = readBindings(value);
      if (read.ok) return read.bindings;
      context.addIssue({ code: 'custom', message: read.problem });
      return z.NEVER;
    }),
  LANDFALL_ALLOW_HTTP: z
    .enum(['true', 'false'], { error: 'is true or false' })
    .default('false')
    .transform((word) => word === 'true'),
  LANDFALL_DATA: z.string().default('.landfall/app'),
  PUBLIC_URL: judged(optional, addressProblem).transform((value) =>
    value === undefined ? undefined : withoutTrailingSlashes(value),
  ),
  DATABASE_URL: judged(optional, databaseProblem),
  HOST: z.string().default('127.0.0.1'),
  PORT: number(0, 65_535, 'a port from 0 to 65535').default(3000),
});

/** The name of one of our variables. `PRIVATE_KEY_PATH` can replace `PRIVATE_KEY`. */
export type Variable = keyof typeof environment.shape | 'PRIVATE_KEY_PATH';

/** Variables that hold an address, to which keys or tokens are sent. */
export const addresses = ['GITHUB_API_URL', 'LANDFALL_BASE_URL', 'PUBLIC_URL'] as const satisfies readonly Variable[];

/** The key as PEM, or a problem that does not quote it. */
type ReadPrivateKey = { ok: true; pem: string } | { ok: false; problem: string };

const framed = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([^-]*)-----END \1-----/;

/**
 * Reads a private key in every way in which people hand one over: as PEM, with its line breaks written as `\n` or
 * lost, and in base64.
 */
function readPrivateKey(written: string): ReadPrivateKey {
  const text = (written.includes('-----BEGIN') ? written : fromBase64(written)).replaceAll('\\n', '\n');
  const [, kind, inside] = framed.exec(text) ?? [];
  if (kind === undefined || inside === undefined) {
    return { ok: false, problem: 'is no private key: it holds the whole .pem file, in base64 if you like' };
  }
  const lines = inside.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  const pem = [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`, ''].join('\n');
  const isRsa = keyType(pem) === 'rsa';
  return isRsa ? { ok: true, pem } : { ok: false, problem: 'is damaged or no RSA key: copy the whole .pem file again' };
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('latin1');

function keyType(pem: string): string | undefined {
  try {
    return createPrivateKey(pem).asymmetricKeyType;
  } catch (error) {
    // The parser's message does not help, and may quote the key.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/** The bindings, or the first line that is none. */
type ReadBindings = { ok: true; bindings: Binding[] } | { ok: false; problem: string };

const line = /^([\w.-]+\/[\w.-]+)\s*=\s*(\S.*)$/;

/** Reads `owner/name=deployment`, one a line or several with commas between them. */
function readBindings(text: string): ReadBindings {
  const bindings: Binding[] = [];
  for (const written of text.split(/[\n,]/).map((part) => part.trim())) {
    if (written === '') continue;
    const [, repository, deployment] = line.exec(written) ?? [];
    if (repository === undefined || deployment === undefined) {
      return { ok: false, problem: `has ${JSON.stringify(written)}: write owner/name=deployment, one per line` };
    }
    bindings.push({ repository: repository.toLowerCase(), deployment });
  }
  return { ok: true, bindings };
}
