/** Keeps the last lines of an output. */
export interface LastLines {
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
