/** Why a server could not start, as a word that stays the same. */
export type StartupCode =
  | 'environment'
  | 'config-missing'
  | 'config-invalid'
  | 'graph-language'
  | 'graph-file-missing'
  | 'graph-module-missing'
  | 'graph-syntax'
  | 'graph-threw'
  | 'graph-export-missing'
  | 'graph-not-a-graph'
  | 'engine-missing'
  | 'database'
  | 'address';

/**
 * A start that failed for a reason a person can mend. `lines` are whole sentences, each with `file:line` where there
 * is one; nothing in them was an environment variable's value.
 */
export class StartupError extends Error {
  readonly code: StartupCode;
  readonly lines: readonly string[];

  constructor(code: StartupCode, lines: readonly string[], options?: ErrorOptions) {
    super(lines.join('\n'), options);
    this.name = 'StartupError';
    this.code = code;
    this.lines = lines;
  }
}

/** What the log of a failed start shows: the code in front of the first line, the other lines below it. */
export function startupLines({ code, lines }: StartupError): string[] {
  const [first = 'The server could not start.', ...rest] = lines;
  return [`error[${code}]: ${first}`, ...rest.map((line) => `  ${line}`)];
}
