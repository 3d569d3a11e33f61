import { deploymentNameProblem } from '../../contract/control/field-values.ts';
import type { Secret } from '../../contract/control/secret.ts';
import type { Source } from '../../contract/control/source.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { quoted } from '../../kit/diagnostics/format-issue.ts';
import {
  fieldName,
  inOrder,
  leftOut,
  maxProblems,
  shortName,
  type FieldPath,
  type Problem,
} from '../../kit/diagnostics/problem.ts';
import type { ConversationTerms } from './conversations.ts';
import { commonFields, fieldsOfSource, fileFieldNames, priced, priceFields } from './deployment-fields.ts';
import type { Desired, DesiredDeployment, OnFailure, OnUnproven, PushedDeployment } from './desired.ts';
import { draftProblem, fieldProblem, issueProblems, valuesOf, type Draft, type WrittenField } from './draft.ts';
import { previewFields, type PreviewTerms } from './preview-fields.ts';
import { pushFields } from './push-fields.ts';
import { secretValues, type Environment } from './secret-names.ts';
import type { Prices, SmokeTest } from './smoke-test.ts';
import { deployable, ownersOf, readSource, namesSource, tagProblems } from './source-rules.ts';
import { keysInTwoSpellings, synonyms, toCamel } from './spelling.ts';

/** Which deployment is meant and how it is tested: all that `smoke` and `rollback` need. */
export interface RequestedDeployment {
  /** Found by id where one is given, else by this exact name. One of the two is always there. */
  name?: string;
  deploymentId?: string;
  smokeTests: readonly SmokeTest[];
  conversations?: ConversationTerms;
  onFailure: OnFailure;
  onUnproven: OnUnproven;
  /** What of the files is not done, fit to show. */
  notes?: readonly string[];
}

type Read<T> = { ok: true; value: T } | { ok: false; problems: Problem[] };

/**
 * A draft as what should run, under a name that it can be created by. Without an environment the values of its secrets
 * are not looked up, and left alone.
 */
export function readDesiredDraft(draft: Draft, environment: Environment | undefined): Read<DesiredDeployment> {
  const read = readWhole(draft, environment);
  const wrongName = nameProblems(draft);
  if (!read.ok) return { ok: false, problems: inOrder([...read.problems, ...wrongName]) };
  if (wrongName.length > 0) return { ok: false, problems: wrongName };
  const { push: _, ...value } = read.value;
  return { ok: true, value };
}

/**
 * A draft as what pushes to its repository are for. Its deployment exists and says its source itself, so the file need
 * not: where it is silent, `github` is meant, for nothing else is pushed to. Secrets are left alone.
 */
export function readPushedDraft(draft: Draft): Read<PushedDeployment> {
  if (namesSource(draft)) return readWhole(draft, undefined);
  const nowhere = { file: draft.file, placeOf: () => draft.place, placeOfKey: () => draft.place };
  const github: WrittenField = { value: 'github', places: nowhere, within: draft.within };
  return readWhole({ ...draft, fields: new Map([...draft.fields, ['source', github]]) }, undefined);
}

function readWhole(draft: Draft, environment: Environment | undefined): Read<PushedDeployment> {
  const values = valuesOf(draft, toCamel);
  const common = commonFields.safeParse(values);
  const tariff = priceFields.safeParse(values);
  const push = pushFields.safeParse(values);
  const previews = previewFields.safeParse(values);
  const { source, problems: sourceProblems } = readSource(draft);
  const problems = [
    ...fieldProblems(draft),
    ...sourceProblems,
    ...tagProblems(draft),
    ...(common.success ? [] : issueProblems(common.error.issues, commonFields, draft)),
    // A field of another source is reported as such; its other problems do not matter.
    ...fieldsProblems(source === undefined ? deployable : [source], values, draft),
    ...(tariff.success ? [] : issueProblems(tariff.error.issues, priceFields, draft)),
    ...(push.success ? [] : issueProblems(push.error.issues, pushFields, draft)),
    ...(previews.success
      ? resourceProblems(previews.data.preview, source, draft)
      : issueProblems(previews.error.issues, previewFields, draft)),
  ];
  const secrets = environment ? readSecrets(draft, environment, problems) : undefined;
  if (problems.length === 0 && source && common.success && tariff.success && push.success && previews.success) {
    const { secrets: _, smokeTests, conversations, verify, onFailure, onUnproven, ...whom } = common.data;
    const requested = { ...whom, ...(secrets ? { secrets } : {}) };
    const tested = {
      smokeTests: priced(smokeTests, tariff.data.prices),
      ...(conversations ? { conversations } : {}),
      ...(verify ? { verify } : {}),
      onFailure,
      onUnproven,
      ...(previews.data.preview ? { preview: withPrices(previews.data.preview, tariff.data.prices) } : {}),
    };
    return { ok: true, value: { desired: ofSource(source, requested, values), ...tested, push: push.data } };
  }
  return { ok: false, problems: inOrder(problems) };
}

/** The resources of a preview are those of the source that has any. */
function resourceProblems(terms: PreviewTerms | undefined, source: Source | undefined, draft: Draft): Problem[] {
  const written = draft.fields.get('preview');
  const owners = ownersOf('resource-spec');
  if (!terms?.resourceSpec || !written || source === undefined || owners.includes(source)) return [];
  const message = `\`preview.resource-spec\` belongs to the source ${quoted(owners)}, not to \`${source}\``;
  return [fieldProblem(written, ['preview', 'resource-spec'], message)];
}

const withPrices = (terms: PreviewTerms, prices: Prices | undefined): PreviewTerms =>
  terms.smokeTests ? { ...terms, smokeTests: priced(terms.smokeTests, prices) } : terms;

/** The problems of the fields of these sources; a field that several share is reported once. */
function fieldsProblems(among: readonly Source[], values: Record<string, unknown>, draft: Draft): Problem[] {
  const reported = new Map<string, Problem>();
  for (const source of among) {
    const fields = fieldsOfSource[source];
    const read = fields.safeParse(values);
    if (read.success) continue;
    for (const problem of issueProblems(read.error.issues, fields, draft))
      reported.set(JSON.stringify(problem), problem);
  }
  return [...reported.values()];
}

/** The values of valid fields. */
function ofSource(
  source: Source,
  requested: Pick<Desired, 'name' | 'deploymentId' | 'secrets' | 'secretsStrategy'>,
  values: Record<string, unknown>,
): Desired {
  switch (source) {
    case 'github':
      return { ...requested, source, ...fieldsOfSource[source].parse(values) };
    case 'external_docker':
      return { ...requested, source, ...fieldsOfSource[source].parse(values) };
    case 'internal_source':
      return { ...requested, source, ...fieldsOfSource[source].parse(values) };
    case 'internal_docker':
      return { ...requested, source, ...fieldsOfSource[source].parse(values) };
  }
}

/** A draft as a deployment that is only tested or rolled back: it needs no source. */
export function readRequestedDraft(draft: Draft): Read<RequestedDeployment> {
  const values = valuesOf(draft, toCamel);
  const [common, tariff] = [commonFields.safeParse(values), priceFields.safeParse(values)];
  const problems = [
    ...fieldProblems(draft),
    ...(common.success ? [] : issueProblems(common.error.issues, commonFields, draft)),
    ...(tariff.success ? [] : issueProblems(tariff.error.issues, priceFields, draft)),
  ];
  if (problems.length > 0 || !common.success || !tariff.success) return { ok: false, problems: inOrder(problems) };
  const { secrets: _, secretsStrategy: __, verify: ___, ...requested } = common.data;
  return { ok: true, value: { ...requested, smokeTests: priced(requested.smokeTests, tariff.data.prices) } };
}

function fieldProblems(draft: Draft): Problem[] {
  const unknown = [...draft.fields.keys()].filter((name) => !fileFieldNames.includes(name));
  const left = new Set(unknown.slice(maxProblems));
  const problems = [...draft.fields].flatMap(([name, written]): Problem[] => {
    if (left.has(name)) return [];
    if (fileFieldNames.includes(name)) return spellingProblems(written, [name], written.value);
    const suggestion = synonyms.get(name) ?? didYouMean(name, fileFieldNames);
    return [fieldProblem(written, [name], `\`${shortName(name)}\` is not a field of a deployment`, suggestion)];
  });
  problems.push(...leftOut(problems.at(-1), left.size));
  if (draft.fields.has('name') || draft.fields.has('deployment-id')) return problems;
  const nameless = '`name` or `deployment-id` must say which deployment is meant';
  return [...problems, draftProblem(draft, nameless, 'name')];
}

/** The name of a deployment that may have to be created; one that is found by its id has its name already. */
function nameProblems({ fields }: Draft): Problem[] {
  const written = fields.get('name');
  if (typeof written?.value !== 'string' || written.value.trim() === '' || fields.has('deployment-id')) return [];
  const name = written.value.trim();
  const problem = deploymentNameProblem(name);
  if (problem === undefined) return [];
  const near = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const suggestion = deploymentNameProblem(near) === undefined ? near : undefined;
  return [fieldProblem(written, ['name'], `\`name\` ${problem}`, suggestion)];
}

function spellingProblems(written: WrittenField, path: FieldPath, value: unknown): Problem[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => spellingProblems(written, [...path, index], item));
  return keysInTwoSpellings(value).map((key) => {
    const at = [...path, key];
    const problem = fieldProblem(written, at, `\`${fieldName(at)}\` is there in two spellings`);
    return { ...problem, ...written.places.placeOfKey(at) };
  });
}

/** The values of the draft's secrets; absent where it has none to say. */
function readSecrets(draft: Draft, environment: Environment, problems: Problem[]): Secret[] | undefined {
  const written = draft.fields.get('secrets');
  return (
    written &&
    secretValues(written.value, environment, (index, message) => {
      problems.push(fieldProblem(written, ['secrets', index], `\`secrets[${index}]\` ${message}`));
    })
  );
}
