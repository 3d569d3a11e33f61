import { ruleOf, accepts } from '../../../contract/control/field-rules.ts';
import { runFields } from '../../../contract/control/field-table.ts';
import { deploymentNameProblem } from '../../../contract/control/field-values.ts';
import type { Source } from '../../../contract/control/source.ts';
import { fieldText, setAt, type FieldText } from '../../parts/deployment-fields.ts';
import { readJsonObject } from '../../parts/json-text.ts';
import { nameFor } from './source-files.ts';
import { capitalized } from '../../../kit/plain-text.ts';

/** The kinds of source that the form offers. */
export const sourceKinds = ['folder', 'repository', 'image'] as const;
export type SourceKind = (typeof sourceKinds)[number];

const sourceOf: Readonly<Record<SourceKind, Source>> = {
  folder: 'internal_source',
  repository: 'github',
  image: 'external_docker',
};

/** The path of a field in the body of a request: `source_config.repo_url`. */
export type FieldPath = string;

/** A field of the form. */
export interface FormField extends FieldText {
  path: FieldPath;
  kind: 'text' | 'flag' | 'choice' | 'json';
  isAdvanced: boolean;
}

/** The fields of the form in order, with their appearance. */
const fieldAppearance: Readonly<Record<string, Partial<Pick<FormField, 'kind' | 'isAdvanced'>>>> = {
  name: {},
  'integration-id': { kind: 'choice' },
  'repo-url': {},
  'repo-ref': {},
  'graph-config-path': {},
  'build-on-push': { kind: 'flag' },
  'image-uri': {},
  'listener-id': { kind: 'choice' },
  'k8s-namespace': {},
  'deployment-type': { kind: 'choice', isAdvanced: true },
  'install-command': { isAdvanced: true },
  'build-command': { isAdvanced: true },
  'custom-url': { isAdvanced: true },
  'resource-spec': { kind: 'json', isAdvanced: true },
};

/** The fields for a kind of source, in the order of the form. */
export function formFields(sourceKind: SourceKind): FormField[] {
  return Object.entries(fieldAppearance).flatMap(([name, appearance]) => {
    const field = runFields.find((each) => each.name === name);
    if (!field?.api || !accepts(ruleOf(field.api.path), sourceOf[sourceKind])) return [];
    const { path, patch } = field.api;
    const text = fieldText(field);
    const hint = patch === 'fixed' ? `${text.hint} It can’t be changed later.` : text.hint;
    return [{ kind: 'text', isAdvanced: false, ...text, path, hint, ...appearance }];
  });
}

/** The entered values. Fields of other source kinds keep theirs, so that switching back loses nothing. */
export interface Draft {
  sourceKind: SourceKind;
  values: Readonly<Record<FieldPath, string>>;
  secrets: readonly { name: string; value: string }[];
}

/** The value of a flag that is on. */
export const isOn = 'true';

export const emptyDraft: Draft = {
  sourceKind: 'folder',
  values: {
    'source_revision_config.graph_config_path': 'langgraph.json',
    'source_revision_config.repo_ref': 'main',
    'source_config.build_on_push': isOn,
  },
  secrets: [],
};

/** Problems by the path of their field. */
export type Problems = Readonly<Record<FieldPath, string>>;

/** The body of the request that creates a deployment, or the problems of the draft. */
export function toRequest(draft: Draft): { body: Record<string, unknown> } | { problems: Problems } {
  const source = sourceOf[draft.sourceKind];
  const body: Record<string, unknown> = { source, source_config: {}, source_revision_config: {} };
  const problems: Record<FieldPath, string> = {};
  for (const { path, label, kind } of formFields(draft.sourceKind)) {
    const text = (draft.values[path] ?? '').trim();
    if (kind === 'flag') setAt(body, path, text === isOn);
    else if (text === '') {
      if (ruleOf(path).requiredFor.includes(source)) problems[path] = `Enter a value for “${label}”.`;
    } else if (kind === 'json') {
      const parsed = readJsonObject(text).value;
      if (parsed) setAt(body, path, parsed);
      else problems[path] = 'This is not a JSON object. Check its quotes, commas and braces.';
    } else {
      const problem = path === 'name' ? nameProblem(text) : undefined;
      if (problem !== undefined) problems[path] = problem;
      else setAt(body, path, text);
    }
  }
  for (const [index, { name }] of draft.secrets.entries()) {
    if (name.trim() === '') problems[`secrets.${index}.name`] = 'Enter a name, or remove the row.';
  }
  body['secrets'] = draft.secrets.map(({ name, value }) => ({ name: name.trim(), value }));
  return Object.keys(problems).length > 0 ? { problems } : { body };
}

/** The problem of a name, with a valid suggestion. */
function nameProblem(name: string): string | undefined {
  const problem = deploymentNameProblem(name);
  if (problem === undefined) return undefined;
  const corrected = nameFor(name);
  return `It ${problem}.${corrected === '' ? '' : ` Use “${corrected}”, for example.`}`;
}

/** Removes empty rows of secrets. */
export const withoutEmptySecrets = (draft: Draft): Draft => ({
  ...draft,
  secrets: draft.secrets.filter(({ name, value }) => name.trim() !== '' || value !== ''),
});

/** Parses the lines of a `.env` file as secrets; undefined if there are none. */
export function readSecretLines(text: string): Draft['secrets'] | undefined {
  const secrets = text.split(/\r?\n/).flatMap((line) => {
    const at = line.indexOf('=');
    const name = line
      .slice(0, Math.max(at, 0))
      .trim()
      .replace(/^export\s/, '')
      .trim();
    const value = line.slice(at + 1).trim();
    return /^[A-Za-z_]\w*$/.test(name) ? [{ name, value: value.replace(/^(["'])(.*)\1$/, '$2') }] : [];
  });
  return secrets.length > 0 ? secrets : undefined;
}

/** Assigns the problems of a refusal to the fields of the form; `rest` is shown above the form. */
export function problemsAtFields(
  refused: { message: string; problems: readonly { field: string; message: string }[] },
  draft: Draft,
): { problems: Problems; rest: string | undefined } {
  const shown = formFields(draft.sourceKind).map(({ path }) => path);
  const secrets = draft.secrets.flatMap((_, index) => [`secrets.${index}.name`, `secrets.${index}.value`]);
  const problems: Record<FieldPath, string> = {};
  const rest: string[] = [];
  const add = (field: string, message: string, whole: string): void => {
    const path = [...shown, ...secrets].find((each) => field === each || field.startsWith(`${each}.`));
    if (path === undefined) rest.push(whole);
    else problems[path] = [problems[path], capitalized(message)].filter(Boolean).join(' ');
  };
  for (const { field, message } of refused.problems) add(field, message, `${field}: ${message}`);
  if (refused.problems.length === 0) {
    for (const { field, message, whole } of sentencesOf(refused.message, shown)) add(field, message, whole);
  }
  return { problems, rest: rest.length > 0 ? rest.join(' ') : undefined };
}

/** The service reports its own checks as sentences that start with the path of their field. */
function sentencesOf(text: string, paths: readonly string[]): { field: string; message: string; whole: string }[] {
  const starts = new RegExp(String.raw`(?<=^|[.?!] )(?=(?:${[...paths, 'secrets'].join('|')})(?: |:|\.))`);
  return text.split(starts).map((whole) => {
    const [, field = '', message = ''] = /^([\w.]*\w):? (.*)$/s.exec(whole.trim()) ?? [];
    return { field, message, whole: whole.trim() };
  });
}
