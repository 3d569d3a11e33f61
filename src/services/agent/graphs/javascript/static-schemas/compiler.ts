import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type ts from 'typescript-5';
import { packageFolders } from '../../../../../agent-folder/packages/project-folders.ts';
import { unlessCode } from '../../../../../kit/errors.ts';
import { hasMethods, memberOf } from '../../../members.ts';

/** The compiler's interface, as TypeScript 5 and 6 have it. */
export type Compiler = typeof ts;

/** The TypeScript of an agent, or why its types can't be read: a sentence. */
export type FoundCompiler = { kind: 'found'; compiler: Compiler } | { kind: 'lacking'; reason: string };

/** Loads the TypeScript of an agent's packages: its types are those that its author checks with. */
export function findCompiler(folder: string): FoundCompiler {
  const found = packageFolders(folder).find((each) => existsSync(join(each, 'node_modules/typescript')));
  const require = createRequire(join(found ?? folder, 'package.json'));
  const module: unknown = found && unlessCode(['MODULE_NOT_FOUND'], undefined, () => require('typescript'));
  if (isCompiler(module)) return { kind: 'found', compiler: module };
  const advice = 'Add typescript 5 to its devDependencies.';
  const version = memberOf(module, 'version');
  if (module === undefined) return { kind: 'lacking', reason: `The agent has no package typescript. ${advice}` };
  return { kind: 'lacking', reason: `The agent's TypeScript ${String(version)} has no compiler API. ${advice}` };
}

const isCompiler = (value: unknown): value is Compiler =>
  hasMethods(value, 'createProgram', 'findConfigFile', 'parseJsonConfigFileContent', 'forEachChild');
