import * as z from 'zod';

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const written = /^(\d{1,9}(?:\.\d{1,3})?) ?(ms|s|m|h|d)$/;

const isUnit = (word: string | undefined): word is keyof typeof unitMs => word !== undefined && word in unitMs;

/** `1500ms`, `5s`, `2.5m`, `1h`, `7d` in whole milliseconds; undefined for anything else. */
export function durationMs(text: string): number | undefined {
  const [, amount, unit] = written.exec(text) ?? [];
  return isUnit(unit) ? Math.round(Number(amount) * unitMs[unit]) : undefined;
}

/** A duration as a person writes it, as milliseconds from `least` to `most`. */
export const duration = (least: number, most: number) =>
  z
    .unknown()
    .meta({ type: 'string', pattern: written.source })
    .transform((text, context) => {
      const ms = typeof text === 'string' ? durationMs(text) : undefined;
      if (ms !== undefined && ms >= least && ms <= most) return ms;
      const message =
        ms === undefined
          ? 'must be a duration such as `1500ms`, `5s` or `2m`'
          : `must be a duration from ${formatDuration(least)} to ${formatDuration(most)}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });

/** Formats milliseconds in the largest unit that needs no fraction. */
export function formatDuration(ms: number): string {
  const [unit = 'ms', size = 1] = Object.entries(unitMs).findLast(([, each]) => ms >= each && ms % each === 0) ?? [];
  return `${ms / size}${unit}`;
}

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
