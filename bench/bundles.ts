import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build, type BuildOptions, type OutputChunk } from 'rolldown';
import * as z from 'zod';
import { builds, outputs } from '../rolldown.config.ts';

const root = dirname(import.meta.dirname);

/** The Action as it is built, and beside it a plain bundle of the packages that it uses. */
export interface Bundles extends Disposable {
  /** Our file that a runner starts; what it loads late lies beside it. */
  ours: string;
  /** The plain bundle: one file. */
  plain: string;
  /** The packages in both. */
  packages: string[];
}

/** Builds both in a temporary folder that goes with them. */
export async function makeBundles(): Promise<Bundles> {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-bench-'));
  // Beside .js files Node has to know that they are modules; it would try them as scripts first.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const built = await build(builds(folder).action);
  const chunks = built.output.filter((each): each is OutputChunk => each.type === 'chunk');
  const packages = packagesIn(chunks.flatMap(({ moduleIds }) => moduleIds));
  await build(plainBuild(folder, packages));
  return {
    ours: join(outputs(folder).action, 'index.js'),
    plain: join(folder, 'plain', 'plain.js'),
    packages,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Bytes of every file in a folder. */
export const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((bytes, stat) => bytes + (stat.isFile() ? stat.size : 0), 0);

const Manifest = z.object({ dependencies: z.record(z.string(), z.string()) });

/** Those of our own dependencies that these modules are from; theirs come along by themselves. */
function packagesIn(modules: readonly string[]): string[] {
  const { dependencies } = Manifest.parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const used = modules.map((id) =>
    /[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1]?.replace('\\', '/'),
  );
  return Object.keys(dependencies).filter((name) => used.includes(name));
}

/**
 * Bundles every package whole, minified like ours, without our shims and lazy loads. When started, it reads an input as
 * every Action does, and requests the addresses in `PLAIN_REQUESTS` one after the other.
 */
function plainBuild(folder: string, packages: readonly string[]): BuildOptions {
  const entry = join(root, 'plain-bundle-entry.js');
  const names = packages.map((_, at) => `package${at}`);
  const core = names[packages.indexOf('@actions/core')];
  const undici = names[packages.indexOf('undici')];
  const code = [
    ...packages.map((name, at) => `import * as package${at} from ${JSON.stringify(name)};`),
    `export { ${names.join(', ')} };`,
    `const key = ${core}.getInput('api-key');`,
    "for (const address of JSON.parse(process.env.PLAIN_REQUESTS ?? '[]')) {",
    `  const { body } = await ${undici}.request(address, { headers: { 'x-api-key': key } });`,
    "  if (typeof (await body.json()) !== 'object') throw new Error('no object');",
    '}',
    `await ${undici}.getGlobalDispatcher().close();`,
  ].join('\n');
  return {
    input: { plain: entry },
    platform: 'node',
    plugins: [
      {
        name: 'plain-bundle-entry',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? code : null),
      },
    ],
    output: {
      dir: join(folder, 'plain'),
      format: 'esm',
      minify: true,
      codeSplitting: false,
      comments: { legal: true },
    },
  };
}
