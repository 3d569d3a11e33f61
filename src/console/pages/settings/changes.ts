import {
  deploymentPatchRequest,
  type Deployment,
  type DeploymentPatchRequest,
} from '../../../contract/control/deployment.ts';
import { graphConfigPathProblem, imageUriProblem, refusedInCommand } from '../../../contract/control/field-values.ts';
import { isTagRef, readWrittenRef } from '../../../contract/control/repo-ref.ts';
import { resourceProblems } from '../../../contract/control/resource-bounds.ts';
import { resourceSpec } from '../../../contract/control/resource-spec.ts';
import { setAt } from '../../parts/deployment-fields.ts';
import { readJson } from '../../parts/json-text.ts';
import { isEditable, textOf, valueAt, type SettingsField } from './fields.ts';
import { hasSecretEdits, secretsToSend, type SecretEdits } from './secrets.ts';

/** The typed values by the path of the field; a flag is `true` or `false`. */
export type Edits = Readonly<Record<string, string>>;

/** The changes of the edits, and their problems. */
export interface Changes {
  fields: readonly SettingsField[];
  /** Problems by the path of the field. */
  problems: ReadonlyMap<string, string>;
  /** Undefined while there are problems or no changes. It contains secrets. */
  patch: DeploymentPatchRequest | undefined;
}

/** Compares the edits with the deployment as it was read. */
export function changesOf(
  deployment: Deployment,
  fields: readonly SettingsField[],
  { edits, secrets }: { edits: Edits; secrets: SecretEdits },
): Changes {
  const problems = new Map<string, string>();
  const changed: SettingsField[] = [];
  const body: Record<string, unknown> = {};
  for (const field of fields.filter(isEditable)) {
    if (field.control === 'secrets') {
      if (!hasSecretEdits(secrets)) continue;
      changed.push(field);
      const found = secretsToSend(deployment.secrets, secrets);
      if ('problem' in found) problems.set(field.path, found.problem);
      else body['secrets'] = found.secrets;
      continue;
    }
    const text = edits[field.path];
    if (text === undefined || text === initialText(deployment, field)) continue;
    changed.push(field);
    const value = readValue(field, text);
    const problem = 'problem' in value ? value.problem : valueProblem(field.path, value.value);
    if (problem !== undefined) problems.set(field.path, problem);
    else if ('value' in value) setAt(body, field.path, value.value);
  }
  const ref =
    edits['source_revision_config.repo_ref'] ?? textOf(valueAt(deployment, 'source_revision_config.repo_ref'));
  if (edits['source_config.build_on_push'] === 'true' && isTagRef(ref)) {
    problems.set('source_config.build_on_push', 'A tag is never built on push. Choose a branch, or leave this off.');
  }
  if (problems.size > 0 || changed.length === 0) return { fields: changed, problems, patch: undefined };
  const parsed = deploymentPatchRequest.safeParse(body);
  if (parsed.success) return { fields: changed, problems, patch: parsed.data };
  for (const { path, message } of parsed.error.issues) {
    const dotted = path.join('.');
    problems.set(changed.find((field) => dotted.startsWith(field.path))?.path ?? dotted, message);
  }
  return { fields: changed, problems, patch: undefined };
}

/** The changed fields that others have changed too since the form was loaded. Secrets always make a revision. */
export const changedByOthers = (base: Deployment, latest: Deployment, changed: readonly SettingsField[]) =>
  changed.filter((field) => field.control !== 'secrets' && initialText(base, field) !== initialText(latest, field));

/** The text of a control before anything is typed. */
export function initialText(deployment: Deployment, { path, control }: SettingsField): string {
  const value = valueAt(deployment, path);
  return control === 'flag' ? String(value === true) : textOf(value);
}

function readValue({ control }: SettingsField, text: string): { value: unknown } | { problem: string } {
  if (control === 'flag') return { value: text === 'true' };
  const trimmed = text.trim();
  // A value can't be removed: the service treats null and absent as unchanged.
  if (trimmed === '') return { problem: 'This cannot be emptied. Enter a value, or undo the change.' };
  if (control === 'text') return { value: trimmed };
  const read = readJson(trimmed);
  return read.problem === undefined ? { value: read.value } : { problem: read.problem };
}

/** The problem of a value as a sentence; undefined if valid. */
function valueProblem(path: string, value: unknown): string | undefined {
  if (path === 'source_config.resource_spec') return resourceSpecProblem(value);
  if (typeof value !== 'string') return undefined;
  const sentence = (problem: string | undefined): string | undefined => problem && `It ${problem}.`;
  switch (path) {
    case 'source_revision_config.repo_ref': {
      const read = readWrittenRef(value);
      return read.ok ? undefined : `${read.problem}.${read.suggestion ? ` Did you mean ${read.suggestion}?` : ''}`;
    }
    case 'source_revision_config.graph_config_path':
      return sentence(graphConfigPathProblem(value));
    case 'source_revision_config.image_uri':
      return sentence(imageUriProblem(value));
    case 'source_config.install_command':
    case 'source_config.build_command': {
      const refused = refusedInCommand(value);
      return refused.length === 0 ? undefined : `It must not contain ${refused.join(', ')}. Put that in a script.`;
    }
    default:
      return undefined;
  }
}

function resourceSpecProblem(value: unknown): string | undefined {
  const parsed = resourceSpec.safeParse(value);
  const found = parsed.success
    ? resourceProblems(parsed.data).map(({ path, message }) => `${path.join('.')} ${message}`)
    : parsed.error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return found.length === 0 ? undefined : `${found.slice(0, 5).join('. ')}.`;
}

/** The effect of saving. */
export interface SaveEffect {
  makesRevision: boolean;
  /** Shown to the user before saving. */
  message: string;
}

/** The effect of saving these changed fields; undefined if there are none. */
export function saveEffect(changed: readonly Pick<SettingsField, 'label' | 'effect'>[]): SaveEffect | undefined {
  if (changed.length === 0) return undefined;
  const labels = (effect: SettingsField['effect']): string[] =>
    changed.filter((field) => field.effect === effect).map(({ label }) => label);
  const [now, next] = [labels('in-place'), labels('next-revision')];
  if (labels('revision').length > 0) {
    return {
      makesRevision: true,
      message: 'Saving creates a new revision with all these changes. The live one serves until it is ready.',
    };
  }
  if (next.length === 0) return { makesRevision: false, message: 'Saving changes this at once, without a revision.' };
  if (now.length === 0) {
    return {
      makesRevision: false,
      message: 'Saving creates no revision: the change takes effect with the next revision.',
    };
  }
  return {
    makesRevision: false,
    message: `Saving creates no revision. Changed at once: ${now.join(', ')}. With the next revision: ${next.join(', ')}.`,
  };
}
