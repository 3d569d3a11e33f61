import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { register as registerRequire } from 'tsx/cjs/api';
import { register as registerImport } from 'tsx/esm/api';
import { packageFolders } from '../../../../agent-folder/packages/project-folders.ts';

let registered = false;
const tsconfigVariable = 'TSX_TSCONFIG_PATH';

/**
 * Enables TypeScript that Node's type stripping rejects, such as enums, in both loaders of Node, by the nearest
 * `tsconfig.json` of the agent. Called once per process.
 */
export function acceptTypeScript(folder: string): void {
  if (registered) return;
  registered = true;
  const tsconfig = packageFolders(folder)
    .map((each) => join(each, 'tsconfig.json'))
    .find((file) => existsSync(file));
  const before = process.env[tsconfigVariable];
  // The loader of `require` takes its settings from here alone, else those around the working directory.
  process.env[tsconfigVariable] = tsconfig ?? devNull;
  try {
    registerRequire();
  } finally {
    if (before === undefined) delete process.env[tsconfigVariable];
    else process.env[tsconfigVariable] = before;
  }
  registerImport({ tsconfig: tsconfig ?? false });
}
