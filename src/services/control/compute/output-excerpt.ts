import { cutMark, withoutControls } from '../../../kit/plain-text.ts';
import type { AgentStart } from './compute.ts';
import type { LogLevel } from './log-line.ts';

/** An error as JavaScript prints it (`TypeError: ...`, `Error [ERR_X]: ...`), or as Landfall does (`error[x]: ...`). */
const errorLine = /^((Uncaught )?[A-Z]\w*(Error|Exception)?( \[\w+\])?|error\[[\w-]+\]): \S/;
/** The lines around an error: the stack, the source line with its marker, the error's fields, the version of Node.js. */
const stackLine = /^(\s|[{}[\]]*,?$|at |Node\.js v\d|node:internal|file:\/\/)/;

const maxLines = 8;
const maxLineLength = 400;

/** Keeps the lines of a process's output that explain a failure best. */
export function outputExcerpt() {
  let lastError: string | undefined;
  let last: string | undefined;
  let lines: string[] = [];
  return {
    add(level: LogLevel, line: string): void {
      lines = [
        ...lines.slice(1 - maxLines),
        line.length > maxLineLength ? `${line.slice(0, maxLineLength)}${cutMark}` : line,
      ];
      const plain = withoutControls(line);
      if (level !== 'error' || stackLine.test(plain)) return;
      last = plain;
      if (errorLine.test(plain)) lastError = plain;
    },
    /** The last line of level `error` that names an error, else the last one that is not part of a stack. */
    cause: (): string | undefined => lastError ?? last,
    lines: (): readonly string[] => lines,
  };
}
export type OutputExcerpt = ReturnType<typeof outputExcerpt>;

/** Creates a failed start, with the line of the output that explains it. */
export function failedStart(reason: string, output?: OutputExcerpt): AgentStart {
  const cause = output?.cause();
  const explained = cause === undefined ? reason : `${reason} Its last line: ${cause}`;
  return { kind: 'failed', reason: explained, lastLines: output?.lines() ?? [] };
}
