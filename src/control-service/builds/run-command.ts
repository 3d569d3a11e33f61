import { pause, type Clock } from '../../clock.ts';
import { lastWords } from '../compute/last-words.ts';
import { startLeashed } from '../compute/leashed-process.ts';
import type { WriteLine } from '../compute/log-line.ts';
import type { Mask } from '../compute/mask.ts';
import { logProcess } from '../compute/process-log.ts';

/** One command of a build. */
export interface CommandSpec {
  command: string;
  args: readonly string[];
  cwd: string;
  /** Milliseconds until it is killed. */
  withinMs: number;
  /** Variables over those of the build. */
  env?: Record<string, string>;
  /** Keeps what it prints out of the log. */
  silent?: boolean;
}

/** How a command ended. `output` holds the last lines that it printed, masked. */
export type CommandEnd =
  | { kind: 'done'; output: string[] }
  /** `how`: for a person; `said`: the line that tells best what went wrong. */
  | { kind: 'failed'; how: string; said: string | undefined; output: string[] }
  | { kind: 'interrupted' };

/** Runs commands of one build, one after the other. */
export type RunCommand = (spec: CommandSpec) => Promise<CommandEnd>;

export interface CommandSettings {
  env: Record<string, string>;
  log: WriteLine;
  mask: Mask;
  clock: Clock;
  /** Ends the command under way, with all that it started. */
  signal: AbortSignal;
}

const linesKept = 50;

/** Makes what runs the commands of a build. Each is killed whole when its time is up or the build is interrupted. */
export function commandRunner({ env, log, mask, clock, signal }: CommandSettings): RunCommand {
  return async ({ command, args, cwd, withinMs, env: more = {}, silent = false }) => {
    if (signal.aborted) return { kind: 'interrupted' };
    const started = startLeashed(
      { command, args, cwd, env: { ...env, ...more }, withInput: false, graceSeconds: 0 },
      clock,
    );
    const output: string[] = [];
    const words = lastWords();
    const write: WriteLine = (level, line) => {
      output.push(line);
      if (output.length > linesKept) output.shift();
      if (line.trim() !== '') words.hear(line);
      if (!silent) log(level, line);
    };
    const said = logProcess(started, { write, mask, clock, errorLevel: 'info' });
    const over = new AbortController();
    const late = isLate(over.signal);
    signal.addEventListener('abort', started.kill, { once: true });
    const end = await started.ended;
    signal.removeEventListener('abort', started.kill);
    over.abort();
    await said;
    if (signal.aborted) return { kind: 'interrupted' };
    if (await late) return failed(`it took longer than ${withinMs / 1_000} s and was ended`);
    if (end.kind === 'unstartable') return failed(`it could not be started (${end.reason})`);
    if (end.kind === 'killed') return failed(`it was killed by ${end.signal}`);
    return end.code === 0 ? { kind: 'done', output } : failed(`exit code ${end.code}`);

    async function isLate(ended: AbortSignal): Promise<boolean> {
      await pause(clock, withinMs, ended);
      if (ended.aborted) return false;
      started.kill();
      return true;
    }

    function failed(how: string): CommandEnd {
      return { kind: 'failed', how, said: words.best(), output };
    }
  };
}
