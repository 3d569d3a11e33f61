import { cutMark, withoutControls } from '../../../kit/plain-text.ts';
import type { AgentStart } from './compute.ts';
import type { LogLevel } from './log-line.ts';

/** `TypeError: ...`, `Error [ERR_X]: ...`, as JavaScript prints what was thrown, and `error[x]: ...`, as we do. */
const namesAnError = /^((Uncaught )?[A-Z]\w*(Error|Exception)?( \[\w+\])?|error\[[\w-]+\]): \S/;
/** The lines around it: the stack, the source line with its marker, fields of the error, the runtime's version. */
const isAround = /^(\s|[{}[\]]*,?$|at |Node\.js v\d|node:internal|file:\/\/)/;

const maxLines = 8;
const longest = 400;

/** Keeps what explains a failure best of a process's output. */
export function outputExcerpt() {
  let named: string | undefined;
  let last: string | undefined;
  let lines: string[] = [];
  return {
    add(level: LogLevel, line: string): void {
      lines = [...lines.slice(1 - maxLines), line.length > longest ? `${line.slice(0, longest)}${cutMark}` : line];
      const plain = withoutControls(line);
      if (level !== 'error' || isAround.test(plain)) return;
      last = plain;
      if (namesAnError.test(plain)) named = plain;
    },
    /** Of the lines with the level `error` the last that names an error, else the last that is not part of a stack. */
    cause: (): string | undefined => named ?? last,
    lines: (): readonly string[] => lines,
  };
}
export type OutputExcerpt = ReturnType<typeof outputExcerpt>;

/** A failed start, explained by the output. */
export function failedStart(reason: string, output?: OutputExcerpt): AgentStart {
  const cause = output?.cause();
  const words = cause === undefined ? reason : `${reason} Its last line: ${cause}`;
  return { kind: 'failed', reason: words, lastLines: output?.lines() ?? [] };
}
