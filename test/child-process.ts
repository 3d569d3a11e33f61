import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';

/**
 * Kills a child process when its test finishes, and shows what it writes to stderr. Start it with pipes: a process that
 * inherited the run's output and outlived its test would keep whoever reads that output waiting.
 */
export function endWithTest<Child extends ChildProcess>(child: Child): Child {
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stderr?.on('data', (chunk: Buffer) => process.stderr.write(chunk));
  return child;
}
