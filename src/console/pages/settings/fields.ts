import type { Deployment } from '../../../contract/control/deployment.ts';
import { ruleOf, takes } from '../../../contract/control/field-rules.ts';
import { deploymentFields, type PatchEffect } from '../../../contract/control/field-table.ts';
import { sources } from '../../../contract/control/source.ts';

/** A field of the form. */
export interface SettingsField {
  /** `source_config.build_on_push` */
  path: string;
  /** `Build on push` */
  label: string;
  /** The rule of the field; code between backticks. */
  hint: string;
  effect: PatchEffect;
  control: 'text' | 'flag' | 'json' | 'secrets';
}

const acronyms: Readonly<Record<string, string>> = { id: 'ID', url: 'URL', uri: 'URI', k8s: 'Kubernetes', sha: 'SHA' };
const words: Readonly<Record<string, string>> = {
  'repo-url': 'Repository',
  'repo-ref': 'Branch or tag',
  'graph-config-path': 'Graph configuration file',
  'source-tarball-path': 'Uploaded source',
  'repo-commit-sha': 'Commit',
  'image-uri': 'Image',
  'custom-url': 'Address of its own',
  'resource-spec': 'Resources',
};

/** `install-command` as `Install command` */
function labelOf(name: string): string {
  const label = name
    .split('-')
    .map((word) => acronyms[word] ?? word)
    .join(' ');
  return words[name] ?? label.charAt(0).toUpperCase() + label.slice(1);
}

/** The fields of a deployment of a source, in the order of the table of all: fixed and read-only ones too. */
export function settingsFields(source: string): SettingsField[] {
  const known = sources.find((each) => each === source);
  return deploymentFields.flatMap(({ name, api, file, input = '', reads }): SettingsField[] => {
    if (!api || (known !== undefined && !takes(ruleOf(api.path), known))) return [];
    const { path } = api;
    // Only the upload sets the path of an uploaded object.
    const effect = path === 'source_revision_config.source_tarball_path' ? 'read-only' : api.patch;
    const hint = effect === 'fixed' ? '' : (hints[path] ?? file ?? input);
    return [{ path, label: labelOf(name), hint, effect, control: controlOf(path, reads) }];
  });
}

/** Rules in the words of the form, where those of the table name fields of the deploy file. */
const hints: Readonly<Record<string, string>> = {
  'source_config.build_on_push': 'Whether a push to the branch creates a revision. A tag is never built on push.',
  'source_config.resource_spec':
    'What each replica gets, as JSON: CPU in cores, memory in MB, storage in GiB. It is replaced as a whole.',
  secret_references:
    'Secrets of the cluster as a JSON list, each with `name` (of the variable), `secret_name` and `secret_key`.',
  secrets: 'Environment variables of the agent. A value is stored and never shown again.',
};

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

/** A value that cannot be changed, in words. */
export const fixedTextOf = (path: string, value: unknown): string =>
  (path === 'source' ? sourceTexts[textOf(value)] : undefined) ?? textOf(value);

/** A value as the text of its control. */
export function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
