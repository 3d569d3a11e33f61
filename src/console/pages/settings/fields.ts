import type { Deployment } from '../../../contract/control/deployment.ts';
import { ruleOf, accepts } from '../../../contract/control/field-rules.ts';
import type { PatchEffect } from '../../../contract/control/deployment-field.ts';
import { deploymentFields } from '../../../contract/control/field-table.ts';
import { sources } from '../../../contract/control/source.ts';
import { fieldText, type FieldText } from '../../parts/deployment-fields.ts';

/** A field of the form. */
export interface SettingsField extends FieldText {
  /** `source_config.build_on_push` */
  path: string;
  effect: PatchEffect;
  control: 'text' | 'flag' | 'json' | 'secrets';
}

/** The fields of a deployment with this source in the order of the field table, including fixed and read-only ones. */
export function settingsFields(source: string): SettingsField[] {
  const known = sources.find((each) => each === source);
  return deploymentFields.flatMap((field): SettingsField[] => {
    const { api, reads } = field;
    if (!api || (known !== undefined && !accepts(ruleOf(api.path), known))) return [];
    const { path } = api;
    // Only the upload sets the path of an uploaded object.
    const effect = path === 'source_revision_config.source_tarball_path' ? 'read-only' : api.patch;
    return [{ path, ...fieldText(field), effect, control: controlOf(path, reads) }];
  });
}

function controlOf(path: string, reads: 'flag' | 'lines' | 'yaml' | undefined): SettingsField['control'] {
  if (path === 'secrets') return 'secrets';
  if (reads === 'flag') return 'flag';
  return reads === 'yaml' ? 'json' : 'text';
}

/** Whether a person may change a field here. */
export const isEditable = ({ effect }: SettingsField): boolean => effect !== 'fixed' && effect !== 'read-only';

/** The value of a field, by its path. */
export function valueAt(deployment: Deployment, path: string): unknown {
  let value: unknown = deployment;
  for (const key of path.split('.')) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  }
  return value ?? undefined;
}

const sourceTexts: Readonly<Record<string, string>> = {
  internal_source: 'Uploaded folder or archive',
  github: 'Repository',
  external_docker: 'Container image',
  internal_docker: 'Container image in the service’s own registry',
};

/** The text of a value that cannot be changed. */
export const fixedTextOf = (path: string, value: unknown): string =>
  (path === 'source' ? sourceTexts[textOf(value)] : undefined) ?? textOf(value);

/** A value as the text of its control. */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
