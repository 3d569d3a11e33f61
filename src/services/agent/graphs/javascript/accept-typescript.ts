import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { packageFolders } from '../../../../agent-folder/packages/project-folders.ts';

let registered: Promise<void> | undefined;
const tsconfigVariable = 'TSX_TSCONFIG_PATH';

/**
 * Enables TypeScript that Node's type stripping rejects, such as enums, in both loaders of Node, by the nearest
 * `tsconfig.json` of the agent. Does it once per process.
 */
export const acceptTypeScript = (folder: string): Promise<void> => (registered ??= register(folder));

async function register(folder: string): Promise<void> {
  // An agent without JavaScript doesn't load them.
  const [cjs, esm] = await Promise.all([import('tsx/cjs/api'), import('tsx/esm/api')]);
  const tsconfig = packageFolders(folder)
    .map((each) => join(each, 'tsconfig.json'))
    .find((file) => existsSync(file));
  const before = process.env[tsconfigVariable];
  // The loader of `require` takes its settings from here alone, else those around the working directory.
  process.env[tsconfigVariable] = tsconfig ?? devNull;
  try {
    cjs.register();
  } finally {
    if (before === undefined) delete process.env[tsconfigVariable];
    else process.env[tsconfigVariable] = before;
  }
  esm.register({ tsconfig: tsconfig ?? false });
}
