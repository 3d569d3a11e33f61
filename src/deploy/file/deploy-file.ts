import { isObject } from '../../kit/json-object.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { kindOf } from '../../kit/diagnostics/format-issue.ts';
import { parseText } from '../../kit/diagnostics/parse.ts';
import { fieldName, inOrder, shortName } from '../../kit/diagnostics/problem.ts';
import type { FieldPath, Position, SourcePositions, Problem } from '../../kit/diagnostics/problem.ts';
import { fileFieldNames } from './deployment-fields.ts';
import type { Draft, FileDraft, WrittenField } from './draft.ts';
import { orderDrafts } from './environments.ts';
import { optionInputs } from './input-table.ts';

/** The default path of the deploy file. */
export const defaultConfigPath = optionInputs.config.default;

/** Deployments of one file. */
const maxDeployments = 100;

/** The deployments of a file as written, or why the list can't be read. */
export type FileDrafts = { ok: true; drafts: FileDraft[] } | { ok: false; problems: Problem[] };

/**
 * Reads a deploy file as far as its deployments: one at its top level, or many under `deployments`, each by its name and
 * with the fields of `defaults` that it does not have itself.
 */
export function readDrafts(text: string, path: string): FileDrafts {
  const parsed = parseText(text, path);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  const addProblem = (place: Position, field: string, message: string, suggestion?: string): FileDrafts => ({
    ok: false,
    problems: [{ file: path, ...place, field, message, suggestion }],
  });
  if (!isObject(value)) {
    const message = `a deploy file must be a map, with \`deployments\` or the fields of one, not ${kindOf(value)}`;
    return addProblem(parsed.placeOf([]), '', message);
  }
  if (!Object.hasOwn(value, 'deployments')) {
    const misplaced = ['defaults', 'environments'].find((name) => Object.hasOwn(value, name));
    if (misplaced !== undefined) {
      const message = `\`${misplaced}\` is for the deployments under \`deployments\`, and there are none: write them as such`;
      return addProblem(parsed.placeOfKey([misplaced]), misplaced, message);
    }
    const slip = Object.keys(value).find((key) => !fileFieldNames.includes(key) && didYouMean(key, ['deployments']));
    if (slip !== undefined)
      return addProblem(parsed.placeOfKey([slip]), slip, `\`${shortName(slip)}\` is not known`, 'deployments');
    return { ok: true, drafts: [draftOf(value, parsed, [])] };
  }
  const { deployments, defaults, environments, ...beside } = value;
  const [stray] = Object.keys(beside);
  if (stray !== undefined) {
    const where = 'move it into one of them, or into `defaults` for all of them';
    const message = `\`${shortName(stray)}\` stands beside \`deployments\`: ${where}`;
    return addProblem(parsed.placeOfKey([stray]), stray, message, didYouMean(stray, ['defaults', 'environments']));
  }
  if (!isObject(deployments) || Object.keys(deployments).length === 0) {
    const message = '`deployments` must be a map with at least one deployment under its name';
    return addProblem(parsed.placeOf(['deployments']), 'deployments', message);
  }
  if (Object.keys(deployments).length > maxDeployments) {
    const message = `\`deployments\` must hold at most ${maxDeployments} deployments: put the others into a file of their own`;
    return addProblem(parsed.placeOfKey(['deployments']), 'deployments', message);
  }
  const shared = defaultsOf(defaults, parsed);
  if (!shared.ok) return shared;
  const drafts = many(deployments, shared.fields, parsed);
  return drafts.ok && environments !== undefined ? orderDrafts(drafts.drafts, environments, parsed) : drafts;
}

/** Fields that say which deployment is meant. */
const ofOne = ['name', 'deployment-id'];

/** The fields that all deployments of a file share, each to be replaced by a deployment's own. */
function defaultsOf(
  defaults: unknown,
  places: SourcePositions,
): { ok: true; fields: WrittenFields } | { ok: false; problems: Problem[] } {
  const at: FieldPath = ['defaults'];
  if (defaults === undefined) return { ok: true, fields: new Map() };
  if (!isObject(defaults)) {
    const message = `\`defaults\` must be a map of the fields of a deployment, not ${kindOf(defaults)}`;
    return { ok: false, problems: [{ file: places.file, ...places.placeOf(at), field: fieldName(at), message }] };
  }
  const problems = ofOne
    .filter((name) => Object.hasOwn(defaults, name))
    .map((name): Problem => {
      const path = [...at, name];
      const message = `\`${name}\` says which deployment is meant: move it from \`defaults\` into that one`;
      return { file: places.file, ...places.placeOfKey(path), field: fieldName(path), message };
    });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, fields: fieldsAt(defaults, places, at) };
}

function many(deployments: Record<string, unknown>, defaults: WrittenFields, places: SourcePositions): FileDrafts {
  const problems: Problem[] = [];
  const drafts: FileDraft[] = [];
  for (const [key, fields] of Object.entries(deployments)) {
    const at: FieldPath = ['deployments', key];
    if (isObject(fields)) drafts.push({ ...draftOf(fields, places, at, defaults), key });
    else {
      const message = `\`${shortName(key)}\` must be a map of the fields of a deployment, not ${kindOf(fields)}`;
      problems.push({ file: places.file, ...places.placeOf(at), field: fieldName(at), message });
    }
  }
  return problems.length > 0 ? { ok: false, problems: inOrder(problems) } : { ok: true, drafts };
}

type WrittenFields = ReadonlyMap<string, WrittenField>;

/** The fields of a map of the file, each with where it was written. */
function fieldsAt(fields: Record<string, unknown>, places: SourcePositions, within: FieldPath): WrittenFields {
  const own: SourcePositions = {
    file: places.file,
    placeOf: (path) => places.placeOf([...within, ...path]),
    placeOfKey: (path) => places.placeOfKey([...within, ...path]),
  };
  return new Map(Object.entries(fields).map(([name, value]) => [name, { value, places: own, within }]));
}

/** The key of a deployment is its name, unless it says another. */
function draftOf(
  fields: Record<string, unknown>,
  places: SourcePositions,
  within: FieldPath,
  defaults: WrittenFields = new Map(),
): Draft {
  const key = within.at(-1);
  const named = typeof key === 'string' ? fieldsAt({ name: key }, places, within) : [];
  const written = new Map([...named, ...defaults, ...fieldsAt(fields, places, within)]);
  return { fields: written, file: places.file, place: places.placeOfKey(within), within };
}
