import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { nodeEnvironment } from '../node-environment.ts';

export const root = join(import.meta.dirname, '../..');
const program = join(root, 'src/cli/main.ts');

/** Where programs of a test keep their state. */
const stateFolder = mkdtempSync(join(tmpdir(), 'landfall-state-'));
process.on('exit', () => rmSync(stateFolder, { recursive: true, force: true }));
const ownState = { GIT_CONFIG_NOSYSTEM: '1', XDG_STATE_HOME: stateFolder };

/** How a command ended and what it printed. */
export interface CliEnd {
  code: number | null;
  out: string;
  err: string;
}

export interface CliRun {
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  /** What it reads from standard input; nothing by default. */
  stdin?: string;
  /** Whether the reader of its output closes it at once. */
  closesOutput?: boolean;
  /** Called as it prints, with all that it has printed there so far, and a way to send it a signal. */
  onOutput?: (text: string, send: (signal: NodeJS.Signals) => void, which: 'out' | 'err') => void;
}

/** Runs the command line as a process of its own, with nothing in its environment but what is given. */
export function runCli(
  args: readonly string[],
  { cwd = root, env = {}, stdin = '', closesOutput, onOutput }: CliRun = {},
): Promise<CliEnd> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...nodeEnvironment(), HOME: cwd, ...ownState, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that reads nothing may end before.
  child.stdin.on('error', () => undefined).end(stdin);
  // A test that ends early leaves nothing running.
  onTestFinished(() => void child.kill('SIGKILL'));
  if (closesOutput) child.stdout.destroy();
  const end: CliEnd = { code: null, out: '', err: '' };
  const heard = (which: 'out' | 'err') => (chunk: Buffer) => {
    end[which] += chunk.toString();
    onOutput?.(end[which], (signal) => child.kill(signal), which);
  };
  child.stdout.on('data', heard('out'));
  child.stderr.on('data', heard('err'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...end, code }));
  });
}

/** The same in this process, which is quicker: for everything that no signal and no real exit code is needed for. */
export async function runHere(args: readonly string[], { cwd = root, env = {} }: CliRun = {}): Promise<CliEnd> {
  const before = { cwd: process.cwd(), env: process.env };
  const end: CliEnd = { code: null, out: '', err: '' };
  try {
    process.chdir(cwd);
    process.env = { PATH: before.env['PATH'], HOME: cwd, ...ownState, ...env };
    const code = await runCommandLine(args, {
      out: (text) => void (end.out += text),
      err: (text) => void (end.err += text),
    });
    return { ...end, code };
  } finally {
    process.env = before.env;
    process.chdir(before.cwd);
  }
}

/** A folder with these files, by relative path, that `remove` takes away. */
export function folderOf(files: Readonly<Record<string, string>>): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'landfall-cli-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
