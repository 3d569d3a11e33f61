/** A place in a text; both count from 1, columns in UTF-16 code units. */
export interface Position {
  line: number;
  column: number;
}

/** One thing that is wrong in what a person wrote. It never holds a value that was written, only keys and known words. */
export interface Problem extends Position {
  /** The path of the file as it was given, or `input` for an input of the Action or the CLI. */
  file: string;
  /** Dotted path of the field, for example `deployments.support.repo-ref` or `smoke-tests[0].name`; empty for the whole. */
  field: string;
  /** What is wrong, one sentence without a full stop at the end. */
  message: string;
  /** The field or input that is missing, where that is the problem. */
  missing?: string;
  /** What was probably meant. */
  suggestion?: string | undefined;
  /** Instead of a problem: how many further ones are left out. */
  more?: number;
}

/** A problem of a file as a whole, or of a field without a place of its own. */
export const problemOfFile = (file: string, message: string, field = ''): Problem => ({
  file,
  line: 1,
  column: 1,
  field,
  message,
});

/** Problems of one text that are shown; of the others their number is. */
export const maxProblems = 100;

/** A path into a value: keys of maps, indexes of lists. */
export type FieldPath = readonly (string | number)[];

/** Where the parts of one text stand. */
export interface SourcePositions {
  file: string;
  /** The place of the value at `path`; where there is none, of the nearest thing around it. */
  placeOf(path: FieldPath): Position;
  /** The place of the key that names `path`; of an item of a list, its own place. */
  placeOfKey(path: FieldPath): Position;
  /** Where the value at `path` was written, where the whole was put together of several texts. */
  origin?(path: FieldPath): { places: SourcePositions; path: FieldPath; within: FieldPath };
}

const maxNameLength = 80;
const maxParts = 12;

/** A key as it is named in messages: a long one is cut. */
export const shortName = (key: string): string =>
  key.length > maxNameLength ? `${key.slice(0, maxNameLength - 1).toWellFormed()}…` : key;

/** `a.b[0].c`; the empty path is the empty string. Long paths are cut at the end. */
export function fieldName(path: FieldPath): string {
  const name = path.slice(0, maxParts).reduce<string>((before, part) => {
    if (typeof part === 'number') return `${before}[${part}]`;
    return before === '' ? shortName(part) : `${before}.${shortName(part)}`;
  }, '');
  return path.length > maxParts ? `${name}…` : name;
}

/** `file:line:column: message`, as compilers write it and editors open it; one of a whole file or folder has no place. */
export function formatProblem({ file, line, column, field, message, suggestion }: Problem): string {
  const place = field === '' && line === 1 && column === 1 ? '' : `:${line}:${column}`;
  return `${file}${place}: ${message}${suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`}`;
}

/** Without those that are there already. */
export const eachOnce = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((each) => [JSON.stringify(each), each])).values(),
];

/** Problems file by file in the order of their lines, each once: at most `maxProblems`, and how many more there are. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  // Made here: a collator takes longer to make than everything else that a step without work does.
  const inFiles = new Intl.Collator();
  const distinct = eachOnce(problems);
  const sorted = distinct
    .filter(({ more }) => more === undefined)
    .sort((one, other) => inFiles.compare(one.file, other.file) || one.line - other.line || one.column - other.column);
  const shown = sorted.slice(0, maxProblems);
  const more = distinct.reduce((sum, each) => sum + (each.more ?? 1), 0) - shown.length;
  return [...shown, ...leftOut(shown.at(-1), more)];
}

/** The word about problems that are left out, at the place of the last one that is shown. */
export function leftOut(last: Problem | undefined, more: number): Problem[] {
  if (last === undefined || more <= 0) return [];
  const { file, line, column } = last;
  return [{ file, line, column, field: '', message: `and ${more} more`, more }];
}
