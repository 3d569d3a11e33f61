import { createServer } from 'node:http';
import { join } from 'node:path';
import { build } from 'rolldown';
import type { Plugin } from 'rolldown';

/** A web server of pages: `/react` is the page of `react-page.mjs`. */
export interface PageServer {
  url: string;
  close(): Promise<void>;
}

/** Bundles the pages and serves them at an origin of their own. The caller closes it. */
export async function servePages(names: readonly string[]): Promise<PageServer> {
  const scripts = new Map<string, string>();
  for (const name of names) scripts.set(`/${name}`, await bundle(name));
  const server = createServer(({ url }, response) => {
    const script = scripts.get(url ?? '');
    response.writeHead(script === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(script && `<!doctype html><body><script type="module">${script}</script></body>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The port of the pages is unknown.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bundle(name: string): Promise<string> {
  const { output } = await build({
    input: join(import.meta.dirname, `${name}-page.mjs`),
    platform: 'browser',
    plugins: [await compileSvelte()],
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    output: { minify: true },
    write: false,
    // Directives for other bundlers (`use client`) do nothing here.
    checks: { moduleLevelDirective: false },
  });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error(`The page ${name} has more than one file.`);
  // Inside a page, the end of a script is the first thing that looks like it.
  return chunk.code.replaceAll('</script', String.raw`<\/script`);
}

/** Compiles the components of Svelte, and the modules with its runes. */
async function compileSvelte(): Promise<Plugin> {
  const { compile, compileModule } = await import('svelte/compiler');
  return {
    name: 'svelte',
    transform: {
      filter: { id: /\.svelte(\.js)?$/ },
      handler(code, filename) {
        const compiled = (filename.endsWith('.js') ? compileModule : compile)(code, { filename });
        return { code: compiled.js.code, moduleType: 'js' };
      },
    },
  };
}
