import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type ts from 'typescript-5';
import { packageFolders } from '../../../../../agent-folder/packages/project-folders.ts';
import type { GraphLocation } from '../../../../../agent-folder/graph-config/graph-path.ts';
import type { Compiler } from './compiler.ts';
import { graphTypes } from './graph-types.ts';
import type { StaticSchemas } from './static-schemas.ts';

/** Reads the schemas of graphs from the types in their files, without running or checking them. */
export function readSchemas(compiler: Compiler, places: readonly GraphLocation[], folder: string): StaticSchemas {
  const files = places.map(({ file }) => resolve(folder, file));
  const program = compiler.createProgram({ rootNames: files, options: optionsOf(compiler, folder) });
  const types = graphTypes(compiler, program);
  const graphs = places.map(({ graphId, exportName }, at) => [graphId, types.ofExport(files[at] ?? '', exportName)]);
  return { graphs: Object.fromEntries(graphs.filter(([, schemas]) => schemas)), nodes: types.ofNodes() };
}

/** The agent's own settings. `strict`, without which optional fields look like the others. */
function optionsOf(compiler: Compiler, folder: string): ts.CompilerOptions {
  const file = packageFolders(folder)
    .map((each) => join(each, 'tsconfig.json'))
    .find((each) => existsSync(each));
  const own = file === undefined ? undefined : compiler.readConfigFile(file, (name) => compiler.sys.readFile(name));
  // The files of the program are known.
  const withoutFiles = { ...compiler.sys, readDirectory: () => [] };
  const options =
    file === undefined || own?.config === undefined
      ? { module: compiler.ModuleKind.NodeNext, target: compiler.ScriptTarget.ES2022 }
      : compiler.parseJsonConfigFileContent(own.config, withoutFiles, dirname(file)).options;
  return { ...options, strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true };
}

/** An agent of more files is taken as one that needs its types. */
const maxFiles = 2_000;

/**
 * Whether the state of a graph may have no types but those in TypeScript: a state of zod, or a `StateSchema`, has its
 * own when it runs. Errs on the side of yes, since nothing is run or parsed.
 */
export function mayNeedTypes(folder: string): boolean {
  const root = packageFolders(folder).at(-1) ?? folder;
  const files = globSync('**/*.{ts,mts,cts,tsx}', { cwd: root, exclude: isForeign }).slice(0, maxFiles + 1);
  return files.length > maxFiles || files.some((file) => usesAnnotations(readFileSync(join(root, file), 'utf8')));
}

const isForeign = (path: string): boolean => /(?:^|[\\/])(?:node_modules|\.[^\\/.][^\\/]*)$/.test(path);

/** `Annotation`, `MessagesAnnotation`; or the engine's first form of a state, an object of channels. */
const usesAnnotations = (code: string): boolean => /Annotation\b|\bchannels\s*:/.test(code);
