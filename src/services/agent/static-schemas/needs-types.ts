import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolders } from '../../../agent-folder/packages/package-folders.ts';

/** An agent of more files is taken as one that needs its types. */
const mostFiles = 2_000;

/**
 * Whether the state of a graph may have no types but those in TypeScript: a state of zod, or a `StateSchema`, has its
 * own when it runs. Errs on the side of yes, since nothing is run or parsed.
 */
export function mayNeedTypes(folder: string): boolean {
  const root = packageFolders(folder).at(-1) ?? folder;
  const files = globSync('**/*.{ts,mts,cts,tsx}', { cwd: root, exclude: isForeign }).slice(0, mostFiles + 1);
  return files.length > mostFiles || files.some((file) => usesAnnotations(readFileSync(join(root, file), 'utf8')));
}

const isForeign = (path: string): boolean => /(?:^|[\\/])(?:node_modules|\.[^\\/.][^\\/]*)$/.test(path);

/** `Annotation`, `MessagesAnnotation`; or the engine's first form of a state, an object of channels. */
const usesAnnotations = (code: string): boolean => /Annotation\b|\bchannels\s*:/.test(code);
