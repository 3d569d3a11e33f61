import { isObject } from '../../contract/json-object.ts';
import { maskOf, type Mask } from '../../contract/mask.ts';
import { cutMark, type TracedRun, type TracedStep } from '../../contract/control/tracing-project.ts';

/** Masks these secrets in what a run received, made and failed with. */
export function runMask(secrets: readonly string[]): (run: TracedRun) => TracedRun {
  if (secrets.length === 0) return (run) => run;
  const mask = maskOf(secrets);
  const text = (error: string | null): string | null => (error === null ? null : mask(error));
  const step = (each: TracedStep): TracedStep => ({
    ...each,
    input: maskedValue(each.input, mask),
    output: maskedValue(each.output, mask),
    error: text(each.error),
  });
  return ({ error, input, output, steps, ...run }) => ({
    ...run,
    error: error && { ...error, message: mask(error.message) },
    ...(input === undefined ? {} : { input: maskedValue(input, mask) }),
    ...(output === undefined ? {} : { output: maskedValue(output, mask) }),
    ...(steps === undefined ? {} : { steps: steps.map(step) }),
  });
}

/** Masks the texts and keys of a value. The start of a secret at the end of a cut text is masked too. */
function maskedValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string')
    return value.endsWith(cutMark) ? `${mask(value.slice(0, -1), { cut: true })}${cutMark}` : mask(value);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask(key), maskedValue(member, mask)]));
}
