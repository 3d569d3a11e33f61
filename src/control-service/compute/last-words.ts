import { withoutControls } from '../../contract/plain-text.ts';

/** Remembers the line of an error output that says best what went wrong. */
export interface LastWords {
  hear: (line: string) => void;
  /** The last error by name, else the last line that is no part of a stack. */
  best: () => string | undefined;
}

/** `TypeError: ...`, `Error [ERR_X]: ...`, as JavaScript prints what was thrown, and `error[x]: ...`, as our agent server does. */
const namesAnError = /^((Uncaught )?[A-Z]\w*(Error|Exception)?( \[\w+\])?|error\[[\w-]+\]): \S/;
/** What stands around it: the stack, the source line with its marker, fields of the error, the runtime's version. */
const isAround = /^(\s|[{}[\]]*,?$|at |Node\.js v\d|node:internal|file:\/\/)/;

/** Makes a memory that has heard nothing yet. */
export function lastWords(): LastWords {
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
