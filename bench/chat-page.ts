// The public chat page for agents, as its generator (`create-agent-chat-app`) writes it, built by its own Vite.
import { execFile } from 'node:child_process';
import { cp, glob, readFile, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { installPackages } from '../test/partners/install-packages.ts';
import { listening } from './bare-server.ts';
import { isTiny } from './rounds.ts';

const partner = join(import.meta.dirname, '../test/partners/chat-page');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** The page, at an origin of its own. */
export interface ChatPage extends AsyncDisposable {
  /** Its files by their paths: `index.html`. */
  files: ReadonlyMap<string, Uint8Array>;
  /** Opens it on a new thread, ready for a message. */
  open(page: Page, agent: { apiUrl: string; apiKey: string; assistant: string }): Promise<void>;
}

/**
 * Builds it below a folder; undefined where its packages are not there and can't be had, and where everything is small:
 * there are 500 packages.
 */
export async function startChatPage(folder: string): Promise<ChatPage | undefined> {
  if (isTiny) return undefined;
  const files = await build(join(folder, 'chat-page')).catch((error: unknown) => {
    console.error(`No chat page: it could not be built (${error instanceof Error ? error.message : String(error)}).`);
    return undefined;
  });
  if (!files) return undefined;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname.slice(1);
    const name = files.has(path) ? path : 'index.html';
    response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream');
    response.end(files.get(name));
  });
  const origin = `http://127.0.0.1:${await listening(server)}`;
  return {
    files,
    async open(page, { apiUrl, apiKey, assistant }) {
      await page.goto(`${origin}/?${new URLSearchParams({ apiUrl, assistantId: assistant }).toString()}`);
      await page.evaluate(`localStorage.setItem('lg:chat:apiKey', ${JSON.stringify(apiKey)})`);
      await page.reload();
      await page.locator('textarea').waitFor();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function build(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  await installPackages(partner);
  const packages = join(partner, 'node_modules');
  await cp(join(packages, 'create-agent-chat-app/templates/vite'), folder, { recursive: true });
  await symlink(packages, join(folder, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(packages, 'vite/bin/vite.js'), 'build'], { cwd: folder });
  const files = new Map<string, Uint8Array>();
  for await (const path of glob('**/*.*', { cwd: join(folder, 'dist') })) {
    files.set(path, await readFile(join(folder, 'dist', path)));
  }
  return files;
}
