/** A user interface that can't be bundled. `lines` have `file:line:column` where known. */
export class UiBuildError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'UiBuildError';
    this.lines = lines;
  }
}
