import * as z from 'zod';
import type { FieldPath } from './problem.ts';

/** The keys that a schema knows for the map at `path`; of every form, where there are several. */
export function knownKeys(schema: z.core.$ZodType, path: FieldPath): string[] {
  let reached = forms(schema);
  for (const part of path) reached = reached.flatMap((form) => inside(form, part)).flatMap(forms);
  return [...new Set(reached.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : [])))];
}

/** A schema without what is wrapped around it, a union as all that it may be. */
function forms(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(forms);
  if (schema instanceof z.ZodLazy) return forms(schema.unwrap());
  if (schema instanceof z.ZodPipe) {
    return forms(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  }
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return forms(schema.unwrap());
  }
  return [schema];
}

function inside(form: z.core.$ZodType, part: string | number): z.core.$ZodType[] {
  if (form instanceof z.ZodArray) return [form.element];
  if (form instanceof z.ZodRecord) return [form.valueType];
  if (!(form instanceof z.ZodObject)) return [];
  const field: z.core.$ZodType | undefined = form.shape[part];
  return field ? [field] : [];
}
