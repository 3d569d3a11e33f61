import { deploymentFields } from '../../contract/control/field-table.ts';
import { isTagRef, readRepoRef } from '../../contract/control/repo-ref.ts';
import type { Source } from '../../contract/control/source.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { quoted } from '../../kit/diagnostics/format-issue.ts';
import type { Problem } from '../../kit/diagnostics/problem.ts';
import { draftProblem, fieldProblem, type Draft } from './draft.ts';

/** Every source; if several may have a field, the first is the default. */
export const deployable = [
  'github',
  'external_docker',
  'internal_source',
  'internal_docker',
] as const satisfies readonly Source[];

const sourcesOf = new Map(deploymentFields.map(({ name, appliesTo }) => [name, appliesTo]));

/** The deployable sources that may have a field. Fields without a rule are validated separately. */
export const ownersOf = (name: string): readonly Source[] =>
  deployable.filter((source) => sourcesOf.get(name)?.includes(source) ?? true);

/** What a draft's source is, with everything that is wrong between it and the fields. */
interface ReadSource {
  source: Source | undefined;
  problems: Problem[];
}

/** Reads `source`, or finds it from the fields that only one source has. */
export function readSource(draft: Draft): ReadSource {
  const written = draft.fields.get('source');
  if (!written) return inferred(draft);
  const source = deployable.find((each) => each === written.value);
  if (source) return { source, problems: foreignFields(draft, source) };
  const message = `\`source\` must be one of ${quoted(deployable)}`;
  const suggestion = typeof written.value === 'string' ? didYouMean(written.value, deployable) : undefined;
  const place = written.places.placeOf(['source']);
  return { source: undefined, problems: [{ ...fieldProblem(written, ['source'], message, suggestion), ...place }] };
}

/** Whether a draft determines its source. */
export const namesSource = (draft: Draft): boolean => draft.fields.has('source') || reporting(draft).length > 0;

function foreignFields(draft: Draft, source: Source): Problem[] {
  return [...draft.fields].flatMap(([name, written]) => {
    const owners = ownersOf(name);
    if (owners.includes(source)) return [];
    const message = `\`${name}\` belongs to the source ${quoted(owners)}, not to \`${source}\``;
    return [fieldProblem(written, [name], message)];
  });
}

function inferred(draft: Draft): ReadSource {
  const [one, other] = reporting(draft);
  if (!one) {
    const message = `\`source\` is missing: write one of ${quoted(deployable)}`;
    return { source: undefined, problems: [draftProblem(draft, message, 'source')] };
  }
  const written = other && draft.fields.get(other.field);
  if (!other || !written) return { source: one.source, problems: foreignFields(draft, one.source) };
  const message = `\`${other.field}\` belongs to the source \`${other.source}\` and \`${one.field}\` to \`${one.source}\`: keep the fields of one`;
  return { source: undefined, problems: [fieldProblem(written, [other.field], message)] };
}

/**
 * The sources that the fields indicate, each with such a field. A field of only one source takes precedence over
 * fields that several share; without one, the first source of a shared field is meant.
 */
function reporting(draft: Draft): { source: Source; field: string }[] {
  const owned = [...draft.fields.keys()].map((field) => ({ field, owners: ownersOf(field) }));
  const sole = owned.filter(({ owners }) => owners.length === 1);
  const shared = owned.filter(({ owners }) => owners.length < deployable.length);
  // What every source may have but is said to be of sources: the first of them is meant.
  const common = owned.filter(({ field }) => sourcesOf.get(field) !== undefined);
  const reported = new Map<Source, string>();
  for (const { field, owners } of [sole, shared].find(({ length }) => length > 0) ?? common) {
    const [source] = owners;
    if (source && !reported.has(source)) reported.set(source, field);
  }
  return deployable.flatMap((source) => {
    const field = reported.get(source);
    return field === undefined ? [] : [{ source, field }];
  });
}

/** A tag never moves, so nothing can be pushed to it (docs/design/contract.md#deployment-settings: `build_on_push`). */
export function tagProblems(draft: Draft): Problem[] {
  const onPush = draft.fields.get('build-on-push');
  const ref = draft.fields.get('repo-ref');
  if (onPush?.value !== true || typeof ref?.value !== 'string') return [];
  const read = readRepoRef(ref.value);
  if (!read.ok || !isTagRef(read.ref)) return [];
  return [fieldProblem(onPush, ['build-on-push'], '`build-on-push` must be false where `repo-ref` is a tag')];
}
