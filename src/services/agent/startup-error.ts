/** Stable codes of startup failures. */
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
  | 'engine-too-old'
  | 'ui-invalid'
  | 'database'
  | 'address';

/** A startup failure that a person can fix. `lines` are whole sentences, without values of environment variables. */
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

/** Formats a failed start for the log: the code before the first line, the other lines indented. */
export function startupLines({ code, lines }: StartupError): string[] {
  const [first = 'The server could not start.', ...rest] = lines;
  return [`error[${code}]: ${first}`, ...rest.map((line) => `  ${line}`)];
}
