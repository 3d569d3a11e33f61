import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';

/** Chromium, of the archive that npm installs, with the libraries that it needs of the system. */
export interface Chromium {
  browser: Browser;
  /** Ends the browser, and removes its files unless a folder was given. */
  close(): Promise<void>;
}

/**
 * Starts Chromium without a window (Linux x64).
 *
 * @param folder where it is unpacked, or was before; otherwise a folder of its own. Nobody else may write there.
 */
export async function launchChromium(folder?: string): Promise<Chromium> {
  const { chromium } = await import('playwright-core');
  const own = folder === undefined ? await mkdtemp(join(tmpdir(), 'landfall-chromium-')) : undefined;
  const unpacked = await unpack(folder ?? own ?? '');
  const removeOwn = async (): Promise<void> => {
    if (own !== undefined) await rm(own, { recursive: true, force: true });
  };
  try {
    // Root has no sandbox. The archive's own arguments would switch off the rules for requests to other origins.
    const browser = await chromium.launch({
      executablePath: join(unpacked, 'chromium'),
      args: ['--no-sandbox'],
      env: { ...process.env, LD_LIBRARY_PATH: join(unpacked, 'al2023/lib') },
    });
    return {
      browser,
      async close() {
        await browser.close();
        await removeOwn();
      },
    };
  } catch (error) {
    await removeOwn();
    throw error;
  }
}

const unpackScript = `
  import { inflate } from '@sparticuz/chromium';
  const bin = new URL('../bin/', import.meta.resolve('@sparticuz/chromium'));
  for (const name of ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']) await inflate(new URL(name, bin).pathname);
`;

/** Unpacks the archive beside its place and moves it there, because several processes may want it at once. */
async function unpack(folder: string): Promise<string> {
  const place = join(folder, 'chromium');
  if (existsSync(place)) return place;
  const beside = await mkdtemp(join(folder, 'unpacking-chromium-'));
  // The package unpacks into the folder for temporary files, so a process that has its own one does it.
  const env = { ...process.env, TMPDIR: beside };
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpackScript], {
    env,
    cwd: import.meta.dirname,
  });
  await rename(beside, place).catch(async (error: unknown) => {
    await rm(beside, { recursive: true, force: true });
    if (!existsSync(place)) throw error;
  });
  return place;
}
