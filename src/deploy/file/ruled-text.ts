import type * as z from 'zod';

/** Text that a rule validates: a mistake is reported at its line, as what goes on from the name of the field. */
export const ruled = (text: z.ZodString, problemOf: (written: string) => string | undefined) =>
  text.superRefine((written, context) => {
    const message = problemOf(written);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** Text that has to compile. */
export const compilable = (
  text: z.ZodString,
  compile: (written: string) => { ok: true } | { ok: false; problem: string },
) =>
  ruled(text, (written) => {
    const compiled = compile(written);
    return compiled.ok ? undefined : compiled.problem;
  });
