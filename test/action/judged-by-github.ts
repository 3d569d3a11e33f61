import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';

const run = promisify(execFile);

/** What GitHub's own language service says of a file; in a process of its own, for it needs a hook to load its JSON. */
export async function judgedByGitHub(kind: 'action' | 'workflow', text: string): Promise<string[]> {
  const program = join(import.meta.dirname, 'language-service.mjs');
  const running = run(process.execPath, [program, kind], { cwd: join(import.meta.dirname, '../..') });
  running.child.stdin?.end(text);
  const { stdout } = await running;
  return z.array(z.string()).parse(JSON.parse(stdout));
}
