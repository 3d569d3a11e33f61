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
  /** Whether its output is kept out of the build log. */
  silent?: boolean;
  /** Runs it as this service's own user: for a program of the machine that runs no code of the source, such as git. */
  asService?: boolean;
}

/** The outcome of a command. `output` holds the last lines of its output, masked. */
export type CommandEnd =
  | { kind: 'done'; output: string[] }
  /** `reason`: a phrase for people; `cause`: the line that explains the failure best; `isLate`: it timed out. */
  | { kind: 'failed'; reason: string; cause: string | undefined; output: string[]; isLate: boolean }
  | { kind: 'interrupted' };

/** Runs the commands of one step of a build, one after the other, with a common timeout. */
export type RunCommand = (spec: CommandSpec) => Promise<CommandEnd>;

interface CommandDependencies {
  env: Record<string, string>;
  /** The user that runs the commands; this service's own when undefined. */
  user: ProcessUser | undefined;
  output: ReturnType<typeof createOutputLimit>;
  mask: Mask;
  clock: Clock;
  processes: Pick<ProcessFamily, 'mark' | 'kill'>;
  /** Resolves with the limit that the build exceeds, or with undefined when the signal aborts first. */
  watch: (endSignal: AbortSignal) => Promise<string | undefined>;
  signal: AbortSignal;
}

const maxOutputLines = 50;

/** Makes the process the kernel's first choice when memory runs out, where it can, then executes the command. */
const killFirstScript = '{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null; exec "$@"';

/**
 * Creates the runner for the commands of a build's step, with a common timeout (ms). Kills a command with all its
 * processes on a timeout, an exceeded limit or an interruption, and processes that outlive their command.
 */
export const commandRunner =
  (settings: CommandDependencies) =>
  (withinMs: number): RunCommand => {
    let remainingMs = withinMs;
    return async (spec) => {
      const startedAt = steadyNow(settings.clock);
      const end = await runOne(spec, settings, { remainingMs: remainingMs, stepMs: withinMs });
      remainingMs -= steadyNow(settings.clock) - startedAt;
      return end;
    };
  };

/** @param time the milliseconds that remain for the command, and the timeout of its step. */
async function runOne(
  { command, args, cwd, env: extraEnv = {}, silent = false, asService = false }: CommandSpec,
  { env, user, output: outputLimit, mask, clock, processes, watch, signal }: CommandDependencies,
  time: { remainingMs: number; stepMs: number },
): Promise<CommandEnd> {
  if (signal.aborted) return { kind: 'interrupted' };
  const timeoutReason = `it took longer than ${time.stepMs / 1_000} s and was stopped`;
  if (time.remainingMs <= 0)
    return { kind: 'failed', reason: timeoutReason, cause: undefined, output: [], isLate: true };
  const started = startGuarded(
    {
      ...(asService
        ? { command, args }
        : { command: '/bin/sh', args: ['-c', killFirstScript, 'sh', command, ...args] }),
      cwd,
      env: { ...env, ...processes.mark, ...extraEnv },
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
    if (output.length > maxOutputLines) output.shift();
    causes.add(line);
    if (!silent) outputLimit.writeLine(levelOf(line, level), line);
  };
  const logged = logProcess(started, { write, mask, clock, errorLevel: 'info' });
  const commandEnd = new AbortController();
  const timeout = pause(clock, time.remainingMs, commandEnd.signal).then(() =>
    commandEnd.signal.aborted ? undefined : timeoutReason,
  );
  const stopReason = Promise.race([timeout, watch(commandEnd.signal)]);
  // If watching fails, kill the command; `await stopReason` then throws the error.
  stopReason.then((why) => why !== undefined && started.kill(), started.kill);
  signal.addEventListener('abort', started.kill, { once: true });
  const end = await started.ended;
  signal.removeEventListener('abort', started.kill);
  commandEnd.abort();
  if (!asService) await processes.kill();
  await logged;
  if (!silent) outputLimit.commandEnded();
  if (signal.aborted) return { kind: 'interrupted' };
  const limit = await stopReason;
  if (limit !== undefined) return failed(limit);
  if (end.kind === 'unstartable') return failed(`it could not be started (${end.reason})`);
  if (end.kind === 'killed') return failed(`it was killed by ${end.signal}`);
  return end.code === 0 ? { kind: 'done', output } : failed(`exit code ${end.code}`);

  function failed(reason: string): CommandEnd {
    return { kind: 'failed', reason, cause: causes.cause(), output, isLate: reason === timeoutReason };
  }
}

/** Describes a failed command of a build; mentions a full disk wherever the output does. */
export function describeFailure(
  what: string,
  { reason, cause, output }: Extract<CommandEnd, { kind: 'failed' }>,
): string {
  const sentence = reason.endsWith('.') ? reason : `${reason}.`;
  const message = cause === undefined ? `${what} failed: ${sentence}` : `${what} failed: ${sentence} It said: ${cause}`;
  return !isDiskFullMessage(message) && output.some(isDiskFullMessage) ? `${message} The disk is full.` : message;
}

/** How many of a command's last lines are logged even beyond the limit: errors are usually there. */
const maxLastLines = 100;

/** Limits the logged output of a build: drops further lines, and notes it in the log. */
export function createOutputLimit(
  write: WriteLine,
  { outputBytes, outputLines }: Pick<BuildBounds, 'outputBytes' | 'outputLines'>,
) {
  let bytes = 0;
  let lines = 0;
  let skippedCount = 0;
  let isReported = false;
  let last: [LogLevel, string][] = [];
  return {
    writeLine: (level: LogLevel, line: string): void => {
      bytes += Buffer.byteLength(line);
      lines += 1;
      if (bytes <= outputBytes && lines <= outputLines) return write(level, line);
      if (!isReported) write('warning', `[cut: a build may print ${outputLines} lines and ${outputBytes} bytes]`);
      isReported = true;
      skippedCount += 1;
      last.push([level, line]);
      if (last.length > maxLastLines) last.shift();
    },
    /** Call when a command has ended: logs its last lines where they were dropped. */
    commandEnded: (): void => {
      if (skippedCount === 0) return;
      if (skippedCount > last.length)
        write('warning', `[${skippedCount - last.length} lines left out; the last of the command:]`);
      for (const [level, line] of last) write(level, line);
      skippedCount = 0;
      last = [];
    },
  };
}
