import { existsSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type BuildFailure, type Message, type Plugin } from 'esbuild';
import { unlessCode } from '../../../kit/errors.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { packageEntry } from '../graphs/javascript/package-entry.ts';
import { memberOf } from '../members.ts';
import { UiBuildError, globalNameOf, type UiBundle } from './ui-bundles.ts';

/** The packages that the page provides, so that its React renders the components. */
const pagePackages = ['react', 'react-dom', '@langchain/langgraph-sdk'];

/** Bundles the components of each `ui` of a configuration in `folder`. @throws UiBuildError with every problem. */
export async function bundleUi(
  { ui, ui_config }: Pick<GraphConfig, 'ui' | 'ui_config'>,
  folder: string,
): Promise<Map<string, UiBundle>> {
  const external = [...pagePackages, ...(ui_config?.shared ?? [])];
  const css = await stylesPlugin(folder);
  const bundles = new Map<string, UiBundle>();
  const problems: string[] = [];
  for (const [name, path] of Object.entries(ui ?? {})) {
    try {
      const file = fileWithin(folder, name, path);
      bundles.set(name, await bundleOne({ name, file, folder, external, css }));
    } catch (error) {
      if (!(error instanceof UiBuildError)) throw error;
      problems.push(...error.lines);
    }
  }
  if (problems.length > 0) throw new UiBuildError(problems);
  return bundles;
}

function fileWithin(folder: string, name: string, path: string): string {
  const file = relative(folder, resolve(folder, path));
  if (file.startsWith('..') || isAbsolute(file)) {
    throw new UiBuildError([
      `\`ui.${name}\` is outside the folder of the graph configuration: ${path}. Move the file into it.`,
    ]);
  }
  if (!existsSync(resolve(folder, file)))
    throw new UiBuildError([`\`ui.${name}\` points to a missing file: ${path}. Check the path.`]);
  return `./${file.replaceAll('\\', '/')}`;
}

interface BundleRequest {
  name: string;
  /** The module whose default export maps names to components, relative to the folder. */
  file: string;
  folder: string;
  external: string[];
  css: Plugin;
}

async function bundleOne({ name, file, folder, external, css }: BundleRequest): Promise<UiBundle> {
  const result = await build({
    stdin: { contents: entryFor(name, file), resolveDir: folder, sourcefile: 'entrypoint.js', loader: 'js' },
    absWorkingDir: folder,
    outfile: 'entrypoint.js',
    write: false,
    bundle: true,
    minify: true,
    platform: 'browser',
    target: 'es2020',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    // In a function: the page's `require` resolves the external packages, and must not become a global.
    format: 'cjs',
    banner: { js: `var ${globalNameOf(name)} = ((require, module) => {` },
    footer: { js: 'return module.exports;})(globalThis[Symbol.for("LGUI_REQUIRE")], {});' },
    external,
    plugins: [css],
    logLevel: 'silent',
  }).catch((error: unknown) => {
    throw isBuildFailure(error) ? new UiBuildError(error.errors.map(formatError)) : error;
  });
  const text = (extension: string) => result.outputFiles.find(({ path }) => path.endsWith(extension))?.text;
  return { 'entrypoint.js': text('.js') ?? '', 'entrypoint.css': text('.css') };
}

/** What `LoadExternalComponent` calls in the page: hands it a component, and the element to render it in. */
const entryFor = (name: string, file: string): string => `
import components from ${JSON.stringify(file)};
export function render(name, shadowRootId) {
  const component = components[name];
  if (!component) throw new Error(name + ${JSON.stringify(` is not a component of the UI "${name}". It has: `)} + Object.keys(components).join(', '));
  const element = document.createElement('div');
  document.getElementById(shadowRootId).shadowRoot.appendChild(element);
  window[Symbol.for('LGUI_EXT_STORE')].respond(shadowRootId, component, element);
}`;

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray(memberOf(error, 'errors'));

/** A place inside node_modules is left out: it is in a plugin, whose text names the agent's file. */
function formatError({ text, location, notes }: Message): string {
  if (!location || location.file.includes('node_modules')) return text;
  return [`${location.file}:${location.line}:${location.column + 1}: ${text}`, ...notes.map((note) => note.text)].join(
    ' ',
  );
}

const tailwindPlugin = 'esbuild-plugin-tailwindcss';

/** Packages of the public command line that depend on the plugin, for agents that do not list it themselves. */
const tailwindProviders = ['@langchain/langgraph-cli', '@langchain/langgraph-api', '@langchain/langgraph-ui'];

/** Loads the Tailwind plugin of the agent's folder. Without it, only style sheets that import Tailwind fail. */
async function stylesPlugin(folder: string): Promise<Plugin> {
  let from = join(folder, 'package.json');
  let entry = packageEntry(tailwindPlugin, from, 'module');
  for (const name of tailwindProviders) {
    if (entry !== undefined) break;
    from = unlessCode(['ERR_MODULE_NOT_FOUND'], undefined, () => findPackageJSON(name, pathToFileURL(from))) ?? from;
    entry = packageEntry(tailwindPlugin, from, 'module');
  }
  if (entry === undefined) return withoutTailwind;
  const module: unknown = await import(pathToFileURL(entry).href);
  const make: unknown = memberOf(module, 'default');
  const plugin: unknown = typeof make === 'function' ? make() : undefined;
  if (isPlugin(plugin)) return plugin;
  throw new UiBuildError([`${tailwindPlugin} in ${dirname(from)} is not a supported version. Install version 2.`]);
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof memberOf(value, 'name') === 'string' && typeof memberOf(value, 'setup') === 'function';

const withoutTailwind: Plugin = {
  name: 'without-tailwind',
  setup(bundling) {
    const text = `This style sheet needs Tailwind. Add ${tailwindPlugin} to the dependencies in package.json.`;
    bundling.onResolve({ filter: /^tailwindcss(?:\/|$)/ }, ({ kind }) =>
      kind === 'import-rule' ? { errors: [{ text }] } : undefined,
    );
  },
};
