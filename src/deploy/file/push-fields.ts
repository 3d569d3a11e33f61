import * as z from 'zod';
import { compileGlob } from './glob.ts';
import { compilable, duration } from './written-text.ts';

/**
 * A commit whose message says this is not deployed by a push, where the file says nothing else. All but the first are
 * GitHub's own, which keep workflows and checks from running.
 */
export const defaultSkipWords: readonly string[] = [
  '[skip deploy]',
  '[skip ci]',
  '[ci skip]',
  '[no ci]',
  '[skip actions]',
  '[actions skip]',
  'skip-checks: true',
  'skip-checks:true',
];

const maxGlobs = 50;
const maxSkipWords = 20;
const maxSkipWordLength = 100;
const maxEnvironmentLength = 255;

const oneLine = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line');

/** Globs are checked when they are read, not on a push. */
const globs = z.array(compilable(z.string(), compileGlob)).min(1).max(maxGlobs);

/** Absent: every path counts. An empty `include` includes all. */
const paths = z
  .strictObject({ include: globs.exactOptional(), exclude: globs.exactOptional() })
  .refine((written) => Object.keys(written).length > 0, { message: 'must have `include` or `exclude`' })
  .transform(({ include = [], exclude = [] }) => ({ include, exclude }));

const maxAdmins = 50;

/** A login of GitHub; those of enterprises have an underscore. */
const login = z
  .string()
  .trim()
  .regex(/^[a-z\d](?:[\w-]{0,98}[a-z\d])?$/i, 'must be a login of GitHub, without @');

const environmentName = oneLine(maxEnvironmentLength);

const namedEnvironment = z.strictObject({
  name: environmentName,
  production: z.boolean().exactOptional(),
  transient: z.boolean().exactOptional(),
});

/** A GitHub environment as the file names it. An absent field is derived from the name and the deployment. */
export type NamedEnvironment = z.output<typeof namedEnvironment>;

const environment = z.union([environmentName.transform((name): NamedEnvironment => ({ name })), namedEnvironment]);

/** Which checks of a commit a push waits for before it is deployed, and for how long. */
export interface AfterChecks {
  /** Names of checks, or those that the branch requires. */
  checks: 'required' | readonly string[];
  timeoutMs: number;
}

const maxChecks = 50;
const maxCheckNameLength = 200;
const maxWaitMs = 24 * 60 * 60_000;

const namedChecks = z.strictObject({
  checks: z
    .union([z.literal('required'), z.array(oneLine(maxCheckNameLength)).min(1).max(maxChecks)])
    .default('required'),
  timeout: duration(60_000, maxWaitMs).prefault('60m'),
});

/** `checks` alone: those that the branch requires, for an hour at most. */
const deployAfter = z.union([z.literal('checks'), namedChecks]).transform((written): AfterChecks => {
  const { checks, timeout } = written === 'checks' ? namedChecks.parse({}) : written;
  return { checks, timeoutMs: timeout };
});

/** What the deploy file may say of pushes and of GitHub, in our spelling. These are no inputs of the Action. */
export const pushFields = z.object({
  paths: paths.exactOptional(),
  skipWords: z
    .array(oneLine(maxSkipWordLength))
    .max(maxSkipWords)
    .default([...defaultSkipWords]),
  afterRollback: z.enum(['continue', 'hold']).default('continue'),
  deployAfter: deployAfter.exactOptional(),
  environment: environment.exactOptional(),
  admins: z.array(login).min(1).max(maxAdmins).exactOptional(),
});

/** What the deploy file says of pushes and of how GitHub shows them: for the App, and passed over by the Action. */
export type PushTerms = z.output<typeof pushFields>;
