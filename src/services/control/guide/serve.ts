import type { Hono } from 'hono';
import { existsSync } from 'node:fs';
import { glob, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Env } from '../api/operation.ts';

/** Beside the built command line; in a clone where `npm run docs` and the installation write it. */
const packaged = join(import.meta.dirname, 'guide');
const built = existsSync(packaged) ? packaged : join(import.meta.dirname, '../../../../bin/lib/guide');

/** The guide loads from its own origin and nowhere else; nothing may frame it. */
const headers = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'max-age=600',
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const notBuilt = 'The guide is not built here. Run `npm run docs` in the clone of Landfall, then reload this page.\n';

/** Reads a file and compresses it, once until it changes: everybody may ask for it, as often as they like. */
function rememberedFiles(): (path: string) => Promise<GuideFile> {
  const known = new Map<string, { changedMs: number; file: Promise<GuideFile> }>();
  return async (path) => {
    const { mtimeMs: changedMs } = await stat(path);
    const former = known.get(path);
    if (former?.changedMs === changedMs) return former.file;
    const file = readGuideFile(path);
    known.set(path, { changedMs, file });
    return file;
  };
}

interface GuideFile {
  plain: Uint8Array<ArrayBuffer>;
  gzipped: Uint8Array<ArrayBuffer>;
}

async function readGuideFile(path: string): Promise<GuideFile> {
  const plain = new Uint8Array(await readFile(path));
  return { plain, gzipped: new Uint8Array(await promisify(gzip)(plain)) };
}

/** Serves the guide at `/docs/guide/`, to everybody like the page of the API. Its links are relative. */
export function mountGuide(app: Hono<Env>, folder = built): void {
  const read = rememberedFiles();
  app.get('/docs/guide/*', async (context) => {
    // The pattern includes the path without a slash. Relative, so that it holds under every base path.
    if (context.req.path === '/docs/guide') return context.redirect('guide/');
    // Listed at every request, so that a guide that is built meanwhile is served.
    const names = await Array.fromAsync(glob('**/*.*', { cwd: folder }), (name) => name.replaceAll('\\', '/'));
    if (names.length === 0) return context.text(notBuilt, 404);
    const path = context.req.path.slice('/docs/guide/'.length);
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    if (!names.includes(name)) return context.text('The guide has no such page. It starts at /docs/guide/.\n', 404);
    const { plain, gzipped } = await read(join(folder, name));
    const type = types[extname(name)] ?? 'application/octet-stream';
    const isCompressed = type !== 'image/png' && context.req.header('accept-encoding')?.includes('gzip') === true;
    return context.body(isCompressed ? gzipped : plain, 200, {
      ...headers,
      'Content-Type': type,
      Vary: 'Accept-Encoding',
      ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
    });
  });
}
