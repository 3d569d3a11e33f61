import type { LogLevel, WriteLine } from '../compute/log-line.ts';

/** How much output of a build's commands is logged. */
export interface OutputBounds {
  outputBytes: number;
  outputLines: number;
}

/** How many of the last lines of a command are logged even beyond the bound: errors are usually there. */
const keepLast = 100;

/** Passes on the output of a build's commands up to a limit. */
export interface OutputBound {
  writeLine: WriteLine;
  /** Call when a command has ended: logs its last lines, if they were left out. */
  commandEnded: () => void;
}

/**
 * Creates the limit. A build with too much output continues, since its time is limited too; the rest of the output is
 * dropped, and the log says where.
 */
export function outputBound(write: WriteLine, { outputBytes, outputLines }: OutputBounds): OutputBound {
  let bytes = 0;
  let lines = 0;
  let leftOut = 0;
  let isReported = false;
  let last: [LogLevel, string][] = [];
  return {
    writeLine(level, line) {
      bytes += Buffer.byteLength(line);
      lines += 1;
      if (bytes <= outputBytes && lines <= outputLines) return write(level, line);
      if (!isReported) write('warning', `[cut: a build may print ${outputLines} lines and ${outputBytes} bytes]`);
      isReported = true;
      leftOut += 1;
      last.push([level, line]);
      if (last.length > keepLast) last.shift();
    },
    commandEnded() {
      if (leftOut === 0) return;
      if (leftOut > last.length)
        write('warning', `[${leftOut - last.length} lines left out; the last of the command:]`);
      for (const [level, line] of last) write(level, line);
      leftOut = 0;
      last = [];
    },
  };
}
