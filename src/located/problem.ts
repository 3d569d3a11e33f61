/** A place in a text; both count from 1, columns in UTF-16 code units. */
export interface Place {
  line: number;
  column: number;
}

/** One thing that is wrong in what a person wrote. It never holds a value that was written, only keys and known words. */
export interface Problem extends Place {
  /** The path of the file as it was given, or `input` for an input of the Action or the CLI. */
  file: string;
  /** Dotted path of the field, for example `deployments.support.repo-ref` or `smoke-tests[0].name`; empty for the whole. */
  field: string;
  /** What is wrong, one sentence without a full stop at the end. */
  message: string;
  /** What was probably meant. */
  suggestion?: string;
}

/** A path into a value: keys of maps, indexes of lists. */
export type FieldPath = readonly (string | number)[];

/** Where the parts of one text stand. */
export interface Places {
  file: string;
  /** The place of the value at `path`; where there is none, of the nearest thing around it. */
  placeOf(path: FieldPath): Place;
  /** The place of the key that names `path`; of an item of a list, its own place. */
  placeOfKey(path: FieldPath): Place;
}

/** `a.b[0].c`; the empty path is the empty string. */
export function fieldName(path: FieldPath): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? part : `${name}.${part}`;
  }, '');
}

/** `file:line:column: message`, as compilers write it and editors open it. */
export function formatProblem({ file, line, column, message, suggestion }: Problem): string {
  return `${file}:${line}:${column}: ${message}${suggestion === undefined ? '' : `; did you mean \`${suggestion}\`?`}`;
}

/** Problems in the order in which a person meets them, file by file. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  return problems.toSorted(
    (one, other) => one.file.localeCompare(other.file) || one.line - other.line || one.column - other.column,
  );
}
