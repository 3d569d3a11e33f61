import { deploymentFields } from '../../contract/control/field-table.ts';
import { parseText } from '../../kit/diagnostics/parse.ts';
import type { Position, SourcePositions, Problem } from '../../kit/diagnostics/problem.ts';
import { deploymentFieldNames } from './deployment-fields.ts';
import type { WrittenField } from './draft.ts';
import type { Inputs } from './input-table.ts';

/** What problems of inputs have in the place of a file. */
export const inputsFile = 'input';

/** The fields that could be read, and what was wrong with the others. */
export interface InputFields {
  fields: ReadonlyMap<string, WrittenField>;
  problems: Problem[];
}

const readsOf = new Map(deploymentFields.map(({ name, reads }) => [name, reads]));

const start: Position = { line: 1, column: 1 };

/** The inputs that are fields of a deployment; all others are options of the entry point. */
export function readInputFields(inputs: Inputs): InputFields {
  const fields = new Map<string, WrittenField>();
  const problems: Problem[] = [];
  for (const name of deploymentFieldNames) {
    const text = inputText(inputs, name);
    if (text === undefined) continue;
    const read = readInput(name, text);
    if ('problems' in read) problems.push(...read.problems);
    else fields.set(name, { ...read, within: [] });
  }
  return { fields, problems };
}

/** The text of an input, or undefined where it was not given. */
export function inputText(inputs: Inputs, name: string): string | undefined {
  const text = inputs[name];
  return text === undefined || text.trim() === '' ? undefined : text;
}

/** A problem of an input as a whole. */
export const inputProblem = (field: string, message: string, suggestion?: string): Problem => ({
  file: inputsFile,
  ...start,
  field,
  message,
  suggestion,
});

type ReadInput = { value: unknown; places: SourcePositions } | { problems: Problem[] };

function readInput(name: string, text: string): ReadInput {
  const reads = readsOf.get(name);
  if (reads === 'yaml') return structure(name, text);
  if (reads === 'lines') return lines(text);
  const places: SourcePositions = { file: inputsFile, placeOf: () => start, placeOfKey: () => start };
  return { value: reads === 'flag' ? booleanOr(text.trim()) : text.trim(), places };
}

/** The booleans of YAML 1.2's core schema, as GitHub's own toolkit reads them; anything else stays text and is refused. */
function booleanOr(text: string): boolean | string {
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  return /^(?:false|False|FALSE)$/.test(text) ? false : text;
}

/** Lines and columns count within the input: where it stands in the workflow file is not known to the step. */
function structure(name: string, text: string): ReadInput {
  const parsed = parseText(text, inputsFile);
  if (!parsed.ok)
    return {
      problems: parsed.problems.map((problem) => ({
        ...problem,
        field: name,
        message: `\`${name}\`: ${problem.message}`,
      })),
    };
  const places: SourcePositions = {
    file: inputsFile,
    placeOf: (path) => parsed.placeOf(path.slice(1)),
    placeOfKey: (path) => parsed.placeOfKey(path.slice(1)),
  };
  return { value: parsed.value, places };
}

/** One name a line; empty lines and comments are passed over. */
function lines(text: string): ReadInput {
  const names = text.split(/\r?\n/).flatMap((line, index) => {
    const written = (line.split(/(?<!\S)#/, 1)[0] ?? '').trim();
    return written === '' ? [] : [{ written, place: { line: index + 1, column: line.indexOf(written) + 1 } }];
  });
  const placeOf: SourcePositions['placeOf'] = ([, index]) => names[Number(index)]?.place ?? start;
  return { value: names.map(({ written }) => written), places: { file: inputsFile, placeOf, placeOfKey: placeOf } };
}
