import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildGuide } from './build.ts';

/** Writes the guide into a folder. */
export async function writeGuide(folder: string): Promise<void> {
  for (const [name, content] of await buildGuide()) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
}
