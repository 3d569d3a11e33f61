import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../../kit/json-object.ts';
import { fromJson } from '../../kit/json-text.ts';

/** Where the Action's files are copied to: the folder that docs/action.md uses. */
const copiedTo = '.github/actions/landfall';

/** How a workflow refers to the Action, and the files that are copied for it, by their path. */
export interface ActionSource {
  uses: string;
  files: Map<string, string>;
}

/**
 * The Action as it is published, `owner/landfall@v1`, by the repository that package.json of this package names. Without
 * an owner there, or on request, its files are copied into the repository.
 */
export function actionSource(root: string, copy: boolean): ActionSource {
  const published = publishedAction(readFileSync(join(root, 'package.json'), 'utf8'));
  if (published !== undefined && !copy) return { uses: published, files: new Map() };
  const names = ['action.yml', 'LICENSE', ...readdirSync(join(root, 'dist')).map((name) => `dist/${name}`)];
  return {
    uses: `./${copiedTo}`,
    files: new Map(names.map((name) => [`${copiedTo}/${name}`, readFileSync(join(root, name), 'utf8')])),
  };
}

/** `owner/landfall@v1` of the repository and the major version in a package.json; undefined while it names no owner. */
export function publishedAction(manifest: string): string | undefined {
  const read = fromJson(manifest);
  const { repository, version } = isObject(read) ? read : {};
  const url = isObject(repository) ? repository['url'] : undefined;
  const [, name] = /github\.com\/([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(typeof url === 'string' ? url : '') ?? [];
  if (name === undefined || name.startsWith('OWNER/')) return undefined;
  return `${name}@v${String(version).split('.')[0]}`;
}

/**
 * How a person starts this program in a folder. `npx landfall` finds the package that is installed there or published;
 * before that npx would offer whatever another package of this name holds, so the program is started by its path.
 */
export function commandHere(root: string, folder: string = process.cwd()): string {
  const isPublished = publishedAction(readFileSync(join(root, 'package.json'), 'utf8')) !== undefined;
  if (isPublished || isInstalled(root, folder)) return 'npx landfall';
  const program = join(root, 'bin', 'landfall.cjs');
  return `node ${/^[\w./:\\@+-]+$/.test(program) ? program : `'${program.replaceAll("'", String.raw`'\''`)}'`}`;
}

/** Whether the package at `root` is the one that programs of a folder use. */
function isInstalled(root: string, folder: string): boolean {
  const installed = join(folder, 'node_modules', 'landfall');
  if (existsSync(installed)) return realpathSync(installed) === realpathSync(root);
  return dirname(folder) !== folder && isInstalled(root, dirname(folder));
}
