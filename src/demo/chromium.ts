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

/** Why Chromium cannot start on this machine; undefined if it may. */
export function chromiumObstacle(platform: string = process.platform, arch: string = process.arch): string | undefined {
  if (platform !== 'linux' || arch !== 'x64') return 'there is no browser for this machine (only for Linux x64)';
  try {
    for (const name of ['playwright-core', '@sparticuz/chromium']) import.meta.resolve(name);
    return undefined;
  } catch {
    // Both are devDependencies, which an installed package lacks.
    return 'there is no browser beside an installed package (only in a clone)';
  }
}

/**
 * Starts Chromium without a window (Linux x64).
 *
 * @param folder where the archive is unpacked, or already was; by default a temporary folder. Only this user may write
 *   there.
 */
export async function launchChromium(folder?: string): Promise<Chromium> {
  const { chromium } = await import('playwright-core');
  const temporary = folder === undefined ? await mkdtemp(join(tmpdir(), 'landfall-chromium-')) : undefined;
  const unpacked = await unpack(folder ?? temporary ?? '');
  const removeOwn = async (): Promise<void> => {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  };
  try {
    // The sandbox does not work as root. The archive's default arguments would disable the same-origin policy.
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
  // The package unpacks into TMPDIR, so a child process with its own TMPDIR runs it.
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

/** A page with its errors and external requests, which no page of the console may have. */
export interface WatchedPage {
  page: Page;
  /** Errors in the browser's console, and uncaught errors. */
  errors: string[];
  /** Requests to other origins. */
  externalRequests: string[];
}

/** Starts to record errors and external requests of a page. */
export function watchPage(page: Page, origin: string): WatchedPage {
  // Agents may have their own origin.
  const ownOrigins = [origin, origin.replace('//127.0.0.1', '//agents.localhost')];
  const watched: WatchedPage = { page, errors: [], externalRequests: [] };
  page.on('console', (message) => {
    // The browser itself reports the response of a request without a session.
    if (message.type() === 'error' && !message.text().includes('401')) watched.errors.push(message.text());
  });
  page.on('pageerror', (error) => watched.errors.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!ownOrigins.some((each) => url.startsWith(each)) && !/^(data|blob):/.test(url))
      watched.externalRequests.push(url);
  });
  return watched;
}
