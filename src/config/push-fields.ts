import * as z from 'zod';
import { compileGlob } from './glob.ts';
import { afterRollbacks, defaultSkipWords } from './push-terms.ts';

const mostGlobs = 50;
const mostSkipWords = 20;
const longestSkipWord = 100;
const longestEnvironment = 255;

const oneLine = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line');

/** A glob that is checked when it is read: a mistake is reported at its line, not on a push. */
const glob = z.string().superRefine((written, context) => {
  const compiled = compileGlob(written);
  if (!compiled.ok) context.addIssue({ code: 'custom', message: compiled.problem });
});

const globs = z.array(glob).min(1).max(mostGlobs);

const paths = z
  .strictObject({ include: globs.exactOptional(), exclude: globs.exactOptional() })
  .refine((written) => Object.keys(written).length > 0, { message: 'must have `include` or `exclude`' })
  .transform(({ include = [], exclude = [] }) => ({ include, exclude }));

const environmentName = oneLine(longestEnvironment);

const environment = z.union([
  environmentName.transform((name) => ({ name })),
  z.strictObject({
    name: environmentName,
    production: z.boolean().exactOptional(),
    transient: z.boolean().exactOptional(),
  }),
]);

/** What the deploy file may say of pushes and of GitHub, in our spelling. These are no inputs of the Action. */
export const pushFields = z.object({
  paths: paths.exactOptional(),
  skipWords: z
    .array(oneLine(longestSkipWord))
    .max(mostSkipWords)
    .default([...defaultSkipWords]),
  afterRollback: z.enum(afterRollbacks).default('continue'),
  environment: environment.exactOptional(),
});
