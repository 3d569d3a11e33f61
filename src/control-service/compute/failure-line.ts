import { withoutControls } from '../../contract/plain-text.ts';

/** Keeps the line of an error output that explains a failure best. */
export interface FailureLine {
  hear: (line: string) => void;
  /** The last named error, else the last line that is not part of a stack. */
  best: () => string | undefined;
}

/** `TypeError: ...`, `Error [ERR_X]: ...`, as JavaScript prints what was thrown, and `error[x]: ...`, as our agent server does. */
const namesAnError = /^((Uncaught )?[A-Z]\w*(Error|Exception)?( \[\w+\])?|error\[[\w-]+\]): \S/;
/** The lines around it: the stack, the source line with its marker, fields of the error, the runtime's version. */
const isAround = /^(\s|[{}[\]]*,?$|at |Node\.js v\d|node:internal|file:\/\/)/;

/** Creates an empty buffer. */
export function failureLine(): FailureLine {
  let error: string | undefined;
  let line: string | undefined;
  return {
    hear(said) {
      const plain = withoutControls(said);
      if (isAround.test(plain)) return;
      line = plain;
      if (namesAnError.test(plain)) error = plain;
    },
    best: () => error ?? line,
  };
}

/** Keeps the last lines of an output. */
interface LastLines {
  hear: (line: string) => void;
  /** The last ones, oldest first. */
  all: () => readonly string[];
}

const kept = 8;
/** Characters of a line. */
const longest = 400;

/** Creates an empty buffer. */
export function lastLines(): LastLines {
  let lines: string[] = [];
  return {
    hear(line) {
      lines = [...lines.slice(1 - kept), line.length > longest ? `${line.slice(0, longest)} [...]` : line];
    },
    all: () => lines,
  };
}
