import * as z from 'zod';
import { resourceProblems } from '../../contract/control/resource-bounds.ts';
import { resourceSpec } from '../../contract/control/resource-spec.ts';
import { toKebab, withSnakeKeys } from './spelling.ts';

/** Keys of the service's objects may be written with hyphens, like everything else, or as the document has them. */
export const spelled = <T extends z.ZodType>(schema: T) => z.preprocess(withSnakeKeys, schema);

/**
 * The contract's, held to what the service refuses of it whatever else it has: what is written here is laid over what
 * is there, so that a bound that is only a default may be another one in the end; the plan looks at the whole.
 */
export const writtenResources = spelled(
  resourceSpec.superRefine((spec, context) => {
    for (const { path, message, certain } of resourceProblems(spec, toKebab)) {
      if (certain) context.addIssue({ code: 'custom', path: [...path], message });
    }
  }),
);
