import { isObject } from '../../kit/json-object.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { kindOf } from '../../kit/diagnostics/format-issue.ts';
import { parseText } from '../../kit/diagnostics/parse.ts';
import { fieldName, inOrder, shortName } from '../../kit/diagnostics/problem.ts';
import type { FieldPath, Position, SourcePositions, Problem } from '../../kit/diagnostics/problem.ts';
import { fileFieldNames } from './deployment-fields.ts';
import type { Draft, WrittenField } from './draft.ts';
import { optionInputs } from './input-table.ts';

/** The default path of the deploy file. */
export const defaultConfigPath = optionInputs.config.default;

/** Deployments of one file. */
const maxDeployments = 100;

/** One deployment of a file: `key` is what it stands under in `deployments`, absent where the file is one deployment. */
export interface FileDraft extends Draft {
  key?: string;
}

/** The deployments of a file as written, or why the list can't be read. */
export type FileDrafts = { ok: true; drafts: FileDraft[] } | { ok: false; problems: Problem[] };

/** Reads a deploy file as far as its deployments: one at its top level, or many under `deployments`, each by its name. */
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
    const slip = Object.keys(value).find((key) => !fileFieldNames.includes(key) && didYouMean(key, ['deployments']));
    if (slip !== undefined)
      return addProblem(parsed.placeOfKey([slip]), slip, `\`${shortName(slip)}\` is not known`, 'deployments');
    return { ok: true, drafts: [draftOf(value, parsed, [])] };
  }
  const { deployments, ...beside } = value;
  const [stray] = Object.keys(beside);
  if (stray !== undefined) {
    const message = `\`${shortName(stray)}\` stands beside \`deployments\`: move it into one of them`;
    return addProblem(parsed.placeOfKey([stray]), stray, message);
  }
  if (!isObject(deployments) || Object.keys(deployments).length === 0) {
    const message = '`deployments` must be a map with at least one deployment under its name';
    return addProblem(parsed.placeOf(['deployments']), 'deployments', message);
  }
  if (Object.keys(deployments).length > maxDeployments) {
    const message = `\`deployments\` must hold at most ${maxDeployments} deployments: put the others into a file of their own`;
    return addProblem(parsed.placeOfKey(['deployments']), 'deployments', message);
  }
  return many(deployments, parsed);
}

function many(deployments: Record<string, unknown>, places: SourcePositions): FileDrafts {
  const problems: Problem[] = [];
  const drafts: FileDraft[] = [];
  for (const [key, fields] of Object.entries(deployments)) {
    const at: FieldPath = ['deployments', key];
    if (isObject(fields)) drafts.push({ ...draftOf(fields, places, at), key });
    else {
      const message = `\`${shortName(key)}\` must be a map of the fields of a deployment, not ${kindOf(fields)}`;
      problems.push({ file: places.file, ...places.placeOf(at), field: fieldName(at), message });
    }
  }
  return problems.length > 0 ? { ok: false, problems: inOrder(problems) } : { ok: true, drafts };
}

/** The key of a deployment is its name, unless it says another. */
function draftOf(fields: Record<string, unknown>, places: SourcePositions, within: FieldPath): Draft {
  const own: SourcePositions = {
    file: places.file,
    placeOf: (path) => places.placeOf([...within, ...path]),
    placeOfKey: (path) => places.placeOfKey([...within, ...path]),
  };
  const written = new Map<string, WrittenField>();
  const key = within.at(-1);
  if (typeof key === 'string') written.set('name', { value: key, places: own, within });
  for (const [name, value] of Object.entries(fields)) written.set(name, { value, places: own, within });
  return { fields: written, file: places.file, place: places.placeOfKey(within), within };
}
