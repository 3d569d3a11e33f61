import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';

/** Chromium from the archive that npm installs, with the system libraries that it needs. */
export interface Chromium {
  browser: Browser;
  /** Closes the browser, and removes its files unless a folder was given. */
  close(): Promise<void>;
}

/** Why no Chromium can start here; undefined where it can be tried. */
export function whyNoChromium(platform: string = process.platform, arch: string = process.arch): string | undefined {
  if (platform !== 'linux' || arch !== 'x64') return 'there is no browser for this machine (only for Linux x64)';
  try {
    for (const name of ['playwright-core', '@sparticuz/chromium']) import.meta.resolve(name);
    return undefined;
  } catch {
    // They are devDependencies: an installed package has neither.
    return 'there is no browser beside an installed package (only in a clone)';
  }
}

/**
 * Starts Chromium without a window (Linux x64).
 *
 * @param folder where it is unpacked, or was before; otherwise a folder of its own. Only this user may write there.
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

/** Unpacks the archive into a temporary folder and renames it: several processes may unpack at the same time. */
async function unpack(folder: string): Promise<string> {
  const target = join(folder, 'chromium');
  if (existsSync(target)) return target;
  const temporary = await mkdtemp(join(folder, 'unpacking-chromium-'));
  // The package unpacks into the folder for temporary files, so a process that has its own one does it.
  const env = { ...process.env, TMPDIR: temporary };
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpackScript], {
    env,
    cwd: import.meta.dirname,
  });
  await rename(temporary, target).catch(async (error: unknown) => {
    await rm(temporary, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  });
  return target;
}

/** A page, and what must not happen on any page of the console. */
export interface WatchedPage {
  page: Page;
  /** What was written to the browser's console as an error, and uncaught errors. */
  errors: string[];
  /** Requests to other origins. */
  externalRequests: string[];
}

/** Records errors and external requests of a page from now on. */
export function watchPage(page: Page, origin: string): WatchedPage {
  // Where agents have an origin of their own.
  const own = [origin, origin.replace('//127.0.0.1', '//agents.localhost')];
  const watched: WatchedPage = { page, errors: [], externalRequests: [] };
  page.on('console', (message) => {
    // The browser itself reports the response of a request without a session.
    if (message.type() === 'error' && !message.text().includes('401')) watched.errors.push(message.text());
  });
  page.on('pageerror', (error) => watched.errors.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!own.some((each) => url.startsWith(each)) && !/^(data|blob):/.test(url)) watched.externalRequests.push(url);
  });
  return watched;
}
