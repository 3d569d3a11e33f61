import * as z from 'zod';
import { previewMark, reservedNames, selfHostedNames } from '../../contract/control/field-values.ts';
import { shownName } from './shown-name.ts';
import type { Secret } from '../../contract/control/secret.ts';

/** A secret of the deployment, and the environment variable that its value is taken from. */
export interface SecretName {
  name: string;
  from: string;
}

/** Environment variables, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const environmentName = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

/** `NAME`, or `NAME=OTHER` where the value is that of the environment variable OTHER. */
const secretName = z.string().transform((written, context): SecretName => {
  const [name = '', from = name, ...more] = written.split('=').map((part) => part.trim());
  const addProblem = (message: string) => context.addIssue({ code: 'custom', message });
  if (more.length > 0 || !environmentName.test(name) || !environmentName.test(from)) {
    addProblem('must be the name of an environment variable, or NAME=OTHER to take it from another one; never a value');
  } else if (reservedNames.has(name) && !selfHostedNames.has(name)) {
    addProblem(`cannot be ${name}: the platform sets that variable itself`);
  } else if (name === previewMark) {
    addProblem(`cannot be ${name}: it marks the previews of pull requests`);
  }
  return { name, from };
});

/** The secrets of a deployment: names only, so that the file and the inputs hold no value. */
export const secretNames = z.array(secretName).superRefine((names, context) => {
  const seen = new Set<string>();
  for (const [index, { name }] of names.entries()) {
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [index], message: 'is there twice' });
    seen.add(name);
  }
});

/**
 * Takes the values from the environment. Calls `missing` for each absent or empty value, because a workflow passes an
 * unset secret as an empty string. Skips items that are not names.
 */
export function secretValues(
  written: unknown,
  environment: Environment,
  missing: (index: number, message: string) => void,
): Secret[] {
  const items: unknown[] = Array.isArray(written) ? written : [];
  return items.flatMap((item, index) => {
    const read = secretName.safeParse(item);
    if (!read.success) return [];
    const { name, from } = read.data;
    const value = environment[from];
    if (value) return [{ name, value }];
    const why = value === undefined ? 'is not set' : 'is empty';
    missing(index, `takes its value from the environment variable ${shownName(from)}, which ${why}`);
    return [];
  });
}
