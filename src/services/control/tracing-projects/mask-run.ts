import { isObject } from '../../../kit/json-object.ts';
import { maskCutText, type Mask } from '../../../contract/masking/mask.ts';
import type { TracedRun, TracedStep } from '../../../contract/control/tracing-project.ts';

/** Masks secrets in what a run received, made and failed with. */
export function maskRun({ error, input, output, steps, ...run }: TracedRun, mask: Mask): TracedRun {
  const step = (each: TracedStep): TracedStep => ({
    ...each,
    input: maskedValue(each.input, mask),
    output: maskedValue(each.output, mask),
    error: each.error === null ? null : maskCutText(mask, each.error),
  });
  return {
    ...run,
    error: error && { error: maskCutText(mask, error.error), message: maskCutText(mask, error.message) },
    ...(input === undefined ? {} : { input: maskedValue(input, mask) }),
    ...(output === undefined ? {} : { output: maskedValue(output, mask) }),
    ...(steps === undefined ? {} : { steps: steps.map(step) }),
  };
}

/** Masks the texts and keys of a value. */
function maskedValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return maskCutText(mask, value);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask(key), maskedValue(member, mask)]));
}
