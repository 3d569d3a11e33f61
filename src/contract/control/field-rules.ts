import type { PatchEffect } from './deployment-field.ts';
import { deploymentFields } from './field-table.ts';
import { sourceConfig, sourceRevisionConfig, sources, type Source } from './source.ts';

/** The specification's rules for a field, beside its type (see `DeploymentField`). */
export interface FieldRule {
  name: string;
  path: string;
  appliesTo: readonly Source[];
  alsoTakenFor: readonly Source[];
  requiredFor: readonly Source[];
  patch: PatchEffect;
}

const specified = [
  ...Object.keys(sourceConfig.shape).map((name) => `source_config.${name}`),
  ...Object.keys(sourceRevisionConfig.shape).map((name) => `source_revision_config.${name}`),
];

const positionOf = ({ path }: FieldRule): number => specified.indexOf(path.split('.', 2).join('.'));

/** The rules of every field that the service has, in the order of the specification. */
export const fieldRules: readonly FieldRule[] = deploymentFields
  .flatMap(({ name, appliesTo = sources, api }): FieldRule[] => {
    if (!api) return [];
    const { path, patch, required = [], alsoTakenFor = [] } = api;
    return [{ name, path, appliesTo, alsoTakenFor, requiredFor: required === true ? appliesTo : required, patch }];
  })
  .toSorted((one, other) => positionOf(one) - positionOf(other));

/** Whether a request may contain a field for a source. */
export const accepts = ({ appliesTo, alsoTakenFor }: FieldRule, source: Source): boolean =>
  appliesTo.includes(source) || alsoTakenFor.includes(source);

const byPath = new Map(fieldRules.map((rule) => [rule.path, rule]));

/** The rule of a field; throws for an unknown path. */
export function ruleOf(path: string): FieldRule {
  const found = byPath.get(path);
  if (!found) throw new Error(`no field rule for ${path}`);
  return found;
}
