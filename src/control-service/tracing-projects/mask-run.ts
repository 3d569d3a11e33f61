import { isObject } from '../../contract/json-object.ts';
import { maskOf, type Mask } from '../../contract/mask.ts';
import { cutMark, type TracedRun, type TracedStep } from '../../contract/control/tracing-project.ts';

/** Masks these secrets in what a run received, made and failed with. */
export function runMask(secrets: readonly string[]): (run: TracedRun) => TracedRun {
  const mask = maskOf(secrets);
  const step = (each: TracedStep): TracedStep => ({
    ...each,
    input: maskedValue(each.input, mask),
    output: maskedValue(each.output, mask),
    error: each.error === null ? null : maskedText(each.error, mask),
  });
  return ({ error, input, output, steps, ...run }) => ({
    ...run,
    error: error && { error: maskedText(error.error, mask), message: maskedText(error.message, mask) },
    ...(input === undefined ? {} : { input: maskedValue(input, mask) }),
    ...(output === undefined ? {} : { output: maskedValue(output, mask) }),
    ...(steps === undefined ? {} : { steps: steps.map(step) }),
  });
}

/** Masks the texts and keys of a value. */
function maskedValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return maskedText(value, mask);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask(key), maskedValue(member, mask)]));
}

/** Masks a text. The start of a secret at the end of a cut one is masked too. */
const maskedText = (text: string, mask: Mask): string =>
  text.endsWith(cutMark) ? `${mask(text.slice(0, -cutMark.length), { cut: true })}${cutMark}` : mask(text);
