import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

/** The files of the console by their path below `/console/`: `index.html`, `assets/main-HASH.js`. */
export type ConsoleFiles = ReadonlyMap<string, Uint8Array>;

/** Beside the built command line; a clone has none. */
const packaged = join(import.meta.dirname, 'console');
const sources = join(import.meta.dirname, '../../../console');

/** The files of the console: the package's, or, in a clone, built now. @throws Error where neither is possible. */
export async function loadConsole(): Promise<ConsoleFiles> {
  if (!existsSync(packaged)) return bundleConsole();
  const files = new Map<string, Uint8Array>();
  for await (const entry of glob('**/*.*', { cwd: packaged })) {
    files.set(entry.replaceAll('\\', '/'), await readFile(join(packaged, entry)));
  }
  return files;
}

/** Builds the console from `src/console`, in memory. */
export async function bundleConsole(): Promise<ConsoleFiles> {
  const { build } = await import('rolldown').catch((error: unknown) => {
    throw new Error('The console is not built, and the bundler is not installed. Run npm ci with devDependencies.', {
      cause: error,
    });
  });
  const { output } = await build({
    input: { main: join(sources, 'main.tsx') },
    platform: 'browser',
    tsconfig: join(sources, 'tsconfig.json'),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    output: {
      minify: true,
      entryFileNames: 'assets/[name]-[hash].js',
      chunkFileNames: 'assets/[name]-[hash].js',
      comments: { legal: false, annotation: false },
      // Loaded before the schemas, which read the settings as they are made.
      codeSplitting: { groups: [{ name: 'zod', test: /[\\/]node_modules[\\/]zod[\\/]|interpret-schemas\.ts$/ }] },
    },
    write: false,
  });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  const files = new Map<string, Uint8Array>();
  for (const file of output) {
    files.set(file.fileName, file.type === 'chunk' ? bytes(file.code) : Buffer.from(file.source));
  }
  const style = await readStyles();
  const styleName = `assets/console-${createHash('sha256').update(style).digest('hex').slice(0, 8)}.css`;
  files.set(styleName, bytes(style));
  const page = await readFile(join(sources, 'index.html'), 'utf8');
  const [{ fileName }] = output;
  files.set('index.html', bytes(page.replace('main.js', fileName).replace('console.css', styleName)));
  files.set('icon.svg', await readFile(join(sources, 'icon.svg')));
  return files;
}

/** The styles of the libraries, then our own, in the order of their paths. */
async function readStyles(): Promise<string> {
  const libraries = [createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css')];
  const own = (await Array.fromAsync(glob('**/*.css', { cwd: sources }))).sort().map((path) => join(sources, path));
  return (await Promise.all([...libraries, ...own].map((path) => readFile(path, 'utf8')))).join('\n');
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The media type of a file of the console. */
export const typeOf = (path: string): string => types[extname(path)] ?? 'application/octet-stream';
