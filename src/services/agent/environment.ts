import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { StartupError } from './startup-error.ts';
import type { TracingOptions } from './tracing/run-exporter.ts';
import { maskOf, type Mask } from '../../contract/masking/mask.ts';

/** A timer can't be longer than 24 days. */
const seconds = z.coerce
  .number({ error: 'must be a number of seconds' })
  .positive({ error: 'must be more than 0 seconds' })
  .max(24 * 24 * 3600, { error: 'must be at most 2073600 seconds' });

/** The default time limit (seconds) of a run, as on the public service. */
const defaultRunTimeout = 3600;

const environmentSchema = z.object({
  LANDFALL_GRAPH_CONFIG: z.string({ error: 'is missing' }).refine(isAbsolute, { error: 'must be an absolute path' }),
  DATABASE_URI: z
    .string({ error: 'is missing' })
    .regex(/^postgres(ql)?:\/\//, { error: 'must begin with postgres://' }),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: z.coerce.number({ error: 'must be a port' }).int().min(0).max(65_535).default(0),
  /** A Unix socket to listen on instead of HOST and PORT. */
  LANDFALL_AGENT_SOCKET: z.string().refine(isAbsolute, { error: 'must be an absolute path' }).optional(),
  /** The Python interpreter of the agent's own environment; absent where none of its graphs is in Python. */
  LANDFALL_PYTHON: z.string().refine(isAbsolute, { error: 'must be an absolute path' }).optional(),
  LANDFALL_AGENT_TOKEN: z.string().min(1).optional(),
  LANDFALL_REVISION_ID: z.string().optional(),
  LANDFALL_DEPLOYMENT_ID: z.string().optional(),
  LANDFALL_HOLD_UNTIL: z.iso.datetime({ error: 'must be a time in ISO 8601' }).optional(),
  LANDFALL_DRAIN_MS: z.coerce.number({ error: 'must be a number of milliseconds' }).int().min(0).default(30_000),
  LANDFALL_TRACING_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).optional(),
  LANDFALL_TRACING_TOKEN: z.string().min(1).optional(),
  LANDFALL_WEBHOOK_PRIVATE: z.enum(['allow', 'refuse'], { error: 'must be allow or refuse' }).default('refuse'),
  LANDFALL_UNKNOWN_NODES: z.enum(['accept', 'refuse'], { error: 'must be accept or refuse' }).default('accept'),
  LANDFALL_RUN_TIMEOUT_SECONDS: seconds.optional(),
  /** The public service's name for the run timeout. */
  BG_JOB_TIMEOUT_SECS: seconds.optional(),
  LANDFALL_LEASE_MS: z.coerce.number({ error: 'must be a number of milliseconds' }).int().min(1000).optional(),
  LANDFALL_MAX_RUNS: z.coerce.number({ error: 'must be a whole number' }).int().min(1).default(100),
});
export type Environment = z.infer<typeof environmentSchema>;

/** Credentials, which the agent's code must not see. */
const secret = ['LANDFALL_AGENT_TOKEN', 'DATABASE_URI', 'LANDFALL_TRACING_TOKEN'] as const;

/**
 * Reads the environment, and removes the server's secrets from it before the agent's code is loaded. @throws
 * StartupError that names every invalid variable, never its value.
 */
export function takeEnvironment(env: NodeJS.ProcessEnv): Environment {
  const parsed = environmentSchema.safeParse(env);
  if (!parsed.success) {
    throw new StartupError(
      'environment',
      parsed.error.issues.map((issue) => `The variable ${issue.path.join('.')} ${issue.message}.`),
    );
  }
  for (const name of secret) delete env[name];
  return parsed.data;
}

/** Where finished runs are exported; undefined if not configured. */
export function tracingOf({
  LANDFALL_TRACING_URL: url,
  LANDFALL_TRACING_TOKEN: token,
}: Environment): TracingOptions | undefined {
  return url === undefined || token === undefined ? undefined : { url, token };
}

/** The time limit (ms) of a run. */
export const runLimitOf = ({ LANDFALL_RUN_TIMEOUT_SECONDS: own, BG_JOB_TIMEOUT_SECS: common }: Environment): number =>
  (own ?? common ?? defaultRunTimeout) * 1000;

/** How variables with secrets are named: their last word says what they hold. */
const secretName = /(?:KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|_PWD|CREDENTIALS?|DSN)$/i;

/** A mask of the secrets of an environment, by the names of variables; and of addresses with a password. */
export const secretsIn = (env: Readonly<Record<string, string | undefined>>): Mask =>
  maskOf(
    Object.entries(env).flatMap(([name, value]) => {
      if (value === undefined || value === '') return [];
      const password = passwordIn(value);
      if (password !== '') return [value, password];
      return secretName.test(name) ? [value] : [];
    }),
  );

function passwordIn(address: string): string {
  const written = URL.parse(address)?.password ?? '';
  try {
    return decodeURIComponent(written);
  } catch {
    // A percent sign that encodes nothing.
    return written;
  }
}
