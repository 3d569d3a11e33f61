// How many bytes of the console a browser fetches: for the first view, and for each page when it is opened.
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleConsole, type ConsoleFiles } from '../src/services/control/console/bundle.ts';
import type { ChatPage } from './chat-page.ts';
import type { Measured } from './figure.ts';

/** Bytes of the first view, beside those of the public chat page where there is one, and of each page's own files. */
export async function consoleBytes(chatPage: ChatPage | undefined): Promise<Measured[]> {
  const files = await bundleConsole();
  const first = firstView(files);
  const [main = ''] = [...first].filter((name) => basename(name).startsWith('main-'));
  const pages = importsOf(files, main, 'late').map((page) => {
    const own = reachable(files, [page], ['static', 'late']).difference(first);
    return { name: basename(page).replace(/-[\w-]{8}\.js$/, ''), bytes: gzipped(files, own) };
  });
  return [
    {
      figure: 'console-bytes-first-view',
      unit: 'bytes, gzip',
      ours: gzipped(files, first),
      ...(chatPage ? { peer: gzipped(chatPage.files, firstView(chatPage.files)) } : {}),
      notes: { ours: 'the list of deployments: page, styles of all pages, scripts', peer: 'the public chat page' },
      targets: [{ of: 'ours', most: 120_000 }],
    },
    ...pages
      .toSorted((one, other) => other.bytes - one.bytes)
      .map(({ name, bytes }) => ({
        figure: `console-bytes-${name}`,
        unit: 'bytes, gzip',
        ours: bytes,
        notes: { ours: 'what this page needs besides the first view' },
        targets: [],
      })),
  ];
}

/** The page, and what it fetches at once. */
function firstView(files: ConsoleFiles): Set<string> {
  const page = Buffer.from(files.get('index.html') ?? []).toString();
  const named = Array.from(page.matchAll(/(?:src|href)="\/?([^"]+)"/g), ([, name = '']) => name);
  return new Set(['index.html', ...reachable(files, named, ['static'])]);
}

type Import = 'static' | 'late';

/** The names of these files and of all that they import. */
function reachable(files: ConsoleFiles, from: readonly string[], kinds: readonly Import[]): Set<string> {
  const met = new Set(from.filter((name) => files.has(name)));
  for (const name of met) for (const kind of kinds) for (const other of importsOf(files, name, kind)) met.add(other);
  return met;
}

const patterns: Readonly<Record<Import, RegExp>> = {
  static: /(?:from|import)["`']\.\/([^"`']+)["`']/g,
  late: /import\(["`']\.\/([^"`']+)["`']\)/g,
};

/** The files that a minified script imports. */
function importsOf(files: ConsoleFiles, name: string, kind: Import): string[] {
  if (!name.endsWith('.js')) return [];
  const code = Buffer.from(files.get(name) ?? []).toString();
  return Array.from(code.matchAll(patterns[kind]), ([, found]) => `assets/${found}`).filter((found) =>
    files.has(found),
  );
}

const gzipped = (files: ConsoleFiles, names: ReadonlySet<string>): number =>
  [...names].reduce((sum, name) => sum + gzipSync(files.get(name) ?? '').length, 0);
