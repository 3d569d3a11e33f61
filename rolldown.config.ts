import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { BuildOptions } from 'rolldown';
import * as z from 'zod';
import { compressTables } from './scripts/compress-tables.ts';
import { trimJsonPath } from './scripts/trim-json-path.ts';
import { withoutDescriptions } from './scripts/without-descriptions.ts';

const root = import.meta.dirname;
const manifest = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

const load = createRequire(import.meta.url);
const constants = z.object({ ERROR: z.record(z.string(), z.unknown()), TYPE: z.record(z.string(), z.number()) });

/** A name of what is built: the Action, the command line with the services, and the agent server. */
export type Product = 'action' | 'cli' | 'agent';

/** Where built files go: the Action's are committed, the others are made when the package is packed. */
export const outputs = (base: string): Record<Product, string> => ({
  action: join(base, 'dist'),
  cli: join(base, 'bin/lib'),
  agent: join(base, 'bin/agent'),
});

/** Of the services. Names stay, so that a stack says where it was. */
const readable = {
  format: 'esm',
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
} satisfies BuildOptions['output'];

/**
 * Three products. The Action holds everything that it needs, for a runner has no node_modules. The command line keeps
 * its packages outside, for npm installs them beside it. The agent server holds the parts of its packages that it uses:
 * a machine has many agents, and each would load every module of every package.
 */
export const builds = (base: string): Record<Product, BuildOptions> => ({
  action: {
    input: { index: join(root, 'src/action/index.ts') },
    platform: 'node',
    // @actions/core, @actions/github and our client each ask for undici, in three versions: all are given one, and
    // of that one the parts in use.
    // The modules of these have no side effects, so unused ones are left out, such as an HTTP client for OIDC tokens;
    // and no getter has any.
    treeshake: {
      moduleSideEffects: [{ test: /[\\/]node_modules[\\/]@actions[\\/]/, sideEffects: false }],
      propertyReadSideEffects: false,
    },
    // With this, undici uses the same HTTP parser as Node's own copy; its experimental one is left out.
    transform: { define: { esbuildDetection: 'true' } },
    // What is left out of zod is not there to be imported; our own imports are checked with the types.
    checks: { importIsUndefined: false },
    resolve: {
      mainFields: ['module', 'main'],
      alias: {
        undici$: join(root, 'scripts/undici-parts.mjs'),
        '@actions/github$': join(root, 'scripts/github-context.mjs'),
        // A fifteenth of the bundle, which none of our requests uses.
        './client-h2.js': join(root, 'scripts/left-out.cjs'),
        './socks5-proxy-agent': join(root, 'scripts/left-out.cjs'),
        // What tells a debugger of connections and requests.
        './diagnostics.js': join(root, 'scripts/no-diagnostics.cjs'),
        '../core/diagnostics$': join(root, 'scripts/no-diagnostics.cjs'),
        '../core/diagnostics.js': join(root, 'scripts/no-diagnostics.cjs'),
        // What reads and writes forms.
        '../web/fetch/body.js': join(root, 'scripts/left-out.cjs'),
        '../web/fetch/formdata': join(root, 'scripts/left-out.cjs'),
        '../web/webidl': join(root, 'scripts/left-out.cjs'),
        // What edits the text of a YAML file.
        './cst-scalar.js': join(root, 'scripts/left-out.cjs'),
        './cst-stringify.js': join(root, 'scripts/left-out.cjs'),
        './cst-visit.js': join(root, 'scripts/left-out.cjs'),
        './stringifyString.js': join(root, 'scripts/left-out.cjs'),
        '../stringify/stringifyString.js': join(root, 'scripts/left-out.cjs'),
        '../../stringify/stringifyString.js': join(root, 'scripts/left-out.cjs'),
        '../stringify/stringifyCollection.js': join(root, 'scripts/left-out.cjs'),
        '../stringify/stringifyDocument.js': join(root, 'scripts/left-out.cjs'),
        '../stringify/stringifyPair.js': join(root, 'scripts/left-out.cjs'),
        // What writes JSON schemas, which only the services show.
        '../core/json-schema-processors.js': join(root, 'scripts/zod-left-out.mjs'),
        '../core/to-json-schema.js': join(root, 'scripts/zod-left-out.mjs'),
        // The parser is in undici twice; the one without SIMD runs on every machine.
        '../llhttp/llhttp_simd-wasm.js': 'undici/lib/llhttp/llhttp-wasm.js',
      },
    },
    plugins: [
      {
        name: 'constants of the HTTP parser that are in use',
        load: (id) => {
          if (!/undici[\\/]lib[\\/]llhttp[\\/]constants\.js$/.test(id)) return null;
          const { ERROR, TYPE } = constants.parse(load(id));
          return `module.exports = ${JSON.stringify({ ERROR, TYPE })};`;
        },
      },
      {
        name: 'the HTTP parser, compressed to a quarter',
        load: (id) => {
          if (!/undici[\\/]lib[\\/]llhttp[\\/]llhttp-wasm\.js$/.test(id)) return null;
          const compressed = brotliCompressSync(z.instanceof(Buffer).parse(load(id))).toString('base64');
          return [
            `const { brotliDecompressSync } = require('node:zlib');`,
            `module.exports = brotliDecompressSync(Buffer.from('${compressed}', 'base64'));`,
          ].join('\n');
        },
      },
      {
        name: 'JSONPath without its grammar of patterns, for ours are of RE2, and without pointers',
        transform: (code, id) => (/json-p3[\\/]dist[\\/]json-p3\.esm\.js$/.test(id) ? trimJsonPath(code) : null),
      },
      {
        name: 'inputs and fields without their descriptions, which a step shows nowhere',
        transform: (code, id) =>
          /src[\\/](?:contract[\\/]control[\\/]field-table|deploy[\\/]file[\\/]input-table)\.ts$/.test(id)
            ? withoutDescriptions(code)
            : null,
      },
      {
        name: 'the tables of Unicode in patterns, compressed to a third',
        transform: (code, id) => (/re2js[\\/]build[\\/]index\.js$/.test(id) ? compressTables(code) : null),
      },
    ],
    output: {
      dir: outputs(base).action,
      format: 'esm',
      minify: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      // Annotations for bundlers have no use in a bundle.
      comments: { legal: true, annotation: false },
    },
  },
  cli: {
    input: {
      cli: join(root, 'src/cli/main.ts'),
      // A thread of the control service.
      'database-relay': join(root, 'src/kit/postgres/relay/relay-thread.ts'),
      // The demo starts it as a process of its own.
      app: join(root, 'app/main.ts'),
      // A process of the App.
      'app-worker': join(root, 'app/worker/worker-process.ts'),
    },
    platform: 'node',
    // Only a clone has these: it builds the console with rolldown, and its demo opens a browser.
    external: (id) =>
      [...Object.keys(manifest.dependencies), 'rolldown', 'playwright-core'].some(
        (name) => id === name || id.startsWith(`${name}/`),
      ),
    output: { ...readable, dir: outputs(base).cli },
  },
  agent: {
    input: {
      'agent-server': join(root, 'src/services/agent/main.ts'),
      // A step of the control service's builds.
      'agent-prepare': join(root, 'src/services/agent/prepare.ts'),
    },
    platform: 'node',
    // These start programs or threads from files of their own.
    external: ['esbuild', 'pino', 'pg-native', 'tsx/cjs/api', 'tsx/esm/api'],
    resolve: {
      alias: {
        // A quarter of the bundle: all classes of LangChain, for its own serializer. An agent's state is read with the
        // serializer of its own packages.
        '@langchain/core/load$': join(root, 'scripts/left-out.cjs'),
      },
    },
    // One character outside Latin-1 doubles the memory of a file's source.
    output: { ...readable, dir: outputs(base).agent, charset: 'ascii' },
  },
});

export default Object.values(builds(root));
