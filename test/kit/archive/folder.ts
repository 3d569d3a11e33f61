import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { onTestFinished } from 'vitest';
import { packSource, type PackResult } from '../../../src/kit/archive/pack.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

/** A text, or a link to somewhere, or bytes of a length. */
export type Content = string | { link: string } | { bytes: number };

/** A folder with this in it, in this order; it is gone after the test. */
export async function folderOf(content: Readonly<Record<string, Content>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-source-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, each] of Object.entries(content)) {
    const at = join(folder, path);
    await mkdir(dirname(at), { recursive: true });
    if (typeof each === 'string') await writeFile(at, each);
    else if ('link' in each) await symlink(each.link, at);
    else await writeFile(at, Buffer.alloc(each.bytes, 'x'));
  }
  return folder;
}

/** The same file as another user may have it. */
export async function touched(folder: string, path: string, { mode, at }: { mode: number; at: Date }): Promise<void> {
  await utimes(join(folder, path), at, at);
  await chmod(join(folder, path), mode);
}

/** The whole of a packed folder. */
export async function bytesOf(packed: PackResult): Promise<Buffer> {
  if (!packed.ok) throw new Error(packed.problems.map(formatProblem).join('; '));
  const parts: Uint8Array[] = [];
  for await (const bytes of packed.source.read()) parts.push(bytes);
  return Buffer.concat(parts);
}

/** What is in it, by path. */
export async function entriesOf(packed: PackResult) {
  return unpackTar(gunzipSync(await bytesOf(packed)));
}

/** The paths in it. */
export const pathsOf = async (packed: PackResult): Promise<string[]> =>
  (await entriesOf(packed)).map(({ header }) => header.name);

/** What is wrong with a folder, each problem by its path within it and its words. */
export async function problemsOf(folder: string, request: Omit<Parameters<typeof packSource>[0], 'folder'> = {}) {
  const packed = await packSource({ folder, ...request });
  return packed.ok
    ? []
    : packed.problems.map(({ file, message }) => `${file.slice(folder.length).replace(/^\//, '') || '.'}: ${message}`);
}
