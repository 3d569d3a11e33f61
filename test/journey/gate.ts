import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Repository } from '../../src/demo/repository.ts';

/** Keeps builds waiting for as long as a journey wants to look at them. */
export interface Gate {
  /** The build command: tells its process id, and ends when the gate is open. */
  command: string;
  /** The id of the process that waits, once one does. */
  reached(): Promise<number>;
  open(): Promise<void>;
  /** Closes it again for the next build. */
  close(): Promise<void>;
}

const script = (folder: string): string => `import { existsSync, writeFileSync } from 'node:fs';
const folder = ${JSON.stringify(folder)};
writeFileSync(folder + '/waiting', String(process.pid));
while (!existsSync(folder + '/open')) await new Promise((resolve) => setTimeout(resolve, 20));
`;

/** Puts a gate into a repository, whose next commit has it. `folder` is made for what passes between the two. */
export async function placeGate(repository: Repository, folder: string): Promise<Gate> {
  await mkdir(folder);
  await writeFile(join(repository.folder, 'gate.mjs'), script(folder));
  const waiting = join(folder, 'waiting');
  const opened = join(folder, 'open');
  return {
    command: 'node gate.mjs',
    async reached() {
      for (;;) {
        const said = existsSync(waiting) ? await readFile(waiting, 'utf8') : '';
        if (said !== '') return Number(said);
        await pause(20);
      }
    },
    open: () => writeFile(opened, ''),
    async close() {
      await rm(waiting, { force: true });
      await rm(opened, { force: true });
    },
  };
}
