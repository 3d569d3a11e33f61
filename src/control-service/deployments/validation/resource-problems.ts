import { resourceProblems as problemsOf } from '../../../contract/control/resource-bounds.ts';
import type { ResourceSpec } from '../../../contract/control/resource-spec.ts';

/** Every rule that a well-formed ResourceSpec breaks (see the contract's `resource-bounds`). */
export const resourceProblems = (spec: ResourceSpec): string[] =>
  problemsOf(spec).map(({ path, message }) => `source_config.resource_spec.${path.join('.')} ${message}.`);
