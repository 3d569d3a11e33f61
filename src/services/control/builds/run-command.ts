import { type Clock, pause, steadyNow } from '../../../kit/clock.ts';
import type { Mask } from '../../../contract/masking/mask.ts';
import { startGuarded, type ProcessUser } from '../compute/guarded-process.ts';
import type { WriteLine, LogLevel } from '../compute/log-line.ts';
import type { ProcessFamily } from '../compute/process-family.ts';
import { logProcess } from '../compute/process-log.ts';
import type { BuildBounds } from './build.ts';
import { commandCause, levelOf } from './command-cause.ts';
import { isDiskFullMessage } from './free-space.ts';

export interface CommandSpec {
  command: string;
  args: readonly string[];
  cwd: string;
  env?: Record<string, string>;
  silent?: boolean;
  /** Runs it as this service's own user: a program of the machine that runs nothing of the source, such as git. */
  asService?: boolean;
}

/** The outcome of a command. `output` holds the last lines of its output, masked. */
export type CommandEnd =
  | { kind: 'done'; output: string[] }
  /** `how`: for a person; `said`: the line that explains the failure best; `isLate`: it timed out. */
  | { kind: 'failed'; how: string; said: string | undefined; output: string[]; isLate: boolean }
  | { kind: 'interrupted' };

/** Runs the commands of one step of a build, one after the other, with a common timeout. */
export type RunCommand = (spec: CommandSpec) => Promise<CommandEnd>;

interface CommandDependencies {
  env: Record<string, string>;
  /** The commands' user; this service's own when absent. */
  user: ProcessUser | undefined;
  output: ReturnType<typeof outputBound>;
  mask: Mask;
  clock: Clock;
  processes: Pick<ProcessFamily, 'mark' | 'kill'>;
  /** Resolves with the limit that the build exceeds, or with undefined when the signal aborts first. */
  watch: (over: AbortSignal) => Promise<string | undefined>;
  signal: AbortSignal;
}

const linesKept = 50;

/** Makes the process the kernel's first choice when memory runs out, where it can, then executes the command. */
const firstToGo = '{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null; exec "$@"';

/**
 * Runs the commands of a build's step, with a common timeout (ms). Kills a command with all its processes on a timeout,
 * an exceeded limit or an interruption, and processes that outlive their command, also outside of its process group.
 */
export const commandRunner =
  (settings: CommandDependencies) =>
  (withinMs: number): RunCommand => {
    let left = withinMs;
    return async (spec) => {
      const began = steadyNow(settings.clock);
      const end = await runOne(spec, settings, { left, of: withinMs });
      left -= steadyNow(settings.clock) - began;
      return end;
    };
  };

/** @param time the milliseconds that are left for the command, and the timeout of its step. */
async function runOne(
  { command, args, cwd, env: more = {}, silent = false, asService = false }: CommandSpec,
  { env, user, output: bound, mask, clock, processes, watch, signal }: CommandDependencies,
  time: { left: number; of: number },
): Promise<CommandEnd> {
  if (signal.aborted) return { kind: 'interrupted' };
  const tooLate = `it took longer than ${time.of / 1_000} s and was stopped`;
  if (time.left <= 0) return { kind: 'failed', how: tooLate, said: undefined, output: [], isLate: true };
  const started = startGuarded(
    {
      ...(asService ? { command, args } : { command: '/bin/sh', args: ['-c', firstToGo, 'sh', command, ...args] }),
      cwd,
      env: { ...env, ...processes.mark, ...more },
      withInput: false,
      graceSeconds: 0,
      user: asService ? undefined : user,
    },
    clock,
  );
  const output: string[] = [];
  const causes = commandCause();
  const write: WriteLine = (level, line) => {
    output.push(line);
    if (output.length > linesKept) output.shift();
    causes.add(line);
    if (!silent) bound.writeLine(levelOf(line, level), line);
  };
  const said = logProcess(started, { write, mask, clock, errorLevel: 'info' });
  const over = new AbortController();
  const isLate = pause(clock, time.left, over.signal).then(() => (over.signal.aborted ? undefined : tooLate));
  const endedFor = Promise.race([isLate, watch(over.signal)]);
  // A failure while watching ends the command; the error is thrown where its end is handled.
  endedFor.then((why) => why !== undefined && started.kill(), started.kill);
  signal.addEventListener('abort', started.kill, { once: true });
  const end = await started.ended;
  signal.removeEventListener('abort', started.kill);
  over.abort();
  if (!asService) await processes.kill();
  await said;
  if (!silent) bound.commandEnded();
  if (signal.aborted) return { kind: 'interrupted' };
  const why = await endedFor;
  if (why !== undefined) return failed(why);
  if (end.kind === 'unstartable') return failed(`it could not be started (${end.reason})`);
  if (end.kind === 'killed') return failed(`it was killed by ${end.signal}`);
  return end.code === 0 ? { kind: 'done', output } : failed(`exit code ${end.code}`);

  function failed(how: string): CommandEnd {
    return { kind: 'failed', how, said: causes.cause(), output, isLate: how === tooLate };
  }
}

/** Describes a failed command of a build; mentions a full disk wherever the output does. */
export function failure(what: string, { how, said, output }: Extract<CommandEnd, { kind: 'failed' }>): string {
  const ended = how.endsWith('.') ? how : `${how}.`;
  const words = said === undefined ? `${what} failed: ${ended}` : `${what} failed: ${ended} It said: ${said}`;
  return !isDiskFullMessage(words) && output.some(isDiskFullMessage) ? `${words} The disk is full.` : words;
}

/** How many of the last lines of a command are logged even beyond the bound: errors are usually there. */
const keepLast = 100;

/** Limits the output of a build, which continues beyond it: the rest is dropped, and the log says where. */
export function outputBound(
  write: WriteLine,
  { outputBytes, outputLines }: Pick<BuildBounds, 'outputBytes' | 'outputLines'>,
) {
  let bytes = 0;
  let lines = 0;
  let leftOut = 0;
  let isReported = false;
  let last: [LogLevel, string][] = [];
  return {
    writeLine: (level: LogLevel, line: string): void => {
      bytes += Buffer.byteLength(line);
      lines += 1;
      if (bytes <= outputBytes && lines <= outputLines) return write(level, line);
      if (!isReported) write('warning', `[cut: a build may print ${outputLines} lines and ${outputBytes} bytes]`);
      isReported = true;
      leftOut += 1;
      last.push([level, line]);
      if (last.length > keepLast) last.shift();
    },
    /** Call when a command has ended: logs its last lines, if they were left out. */
    commandEnded: (): void => {
      if (leftOut === 0) return;
      if (leftOut > last.length)
        write('warning', `[${leftOut - last.length} lines left out; the last of the command:]`);
      for (const [level, line] of last) write(level, line);
      leftOut = 0;
      last = [];
    },
  };
}
