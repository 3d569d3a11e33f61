import {
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
  readFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ensureRootFolder, makeReadable, moveInto } from '../../../kit/postgres/embedded/system-folder.ts';
import * as z from 'zod';

/** The file in a folder of root's that names its owner: the data folder or the installation that it belongs to. */
export const noteIn = (folder: string): string => join(folder, 'stands-for');

/** The program of an agent's process: Node.js and the agent server, absolute paths. */
export interface AgentProgramFiles {
  node: string;
  agentServer: string;
}

/** The packages that the agent server and its modules import; with their dependencies. */
export const agentServerPackages: readonly string[] = [
  '@a2a-js/sdk',
  '@cfworker/json-schema',
  '@hono/node-server',
  '@langchain/core',
  '@langchain/langgraph-checkpoint',
  '@langchain/langgraph-checkpoint-postgres',
  '@modelcontextprotocol/server',
  'cron-parser',
  'esbuild',
  'eventsource-parser',
  'fastest-levenshtein',
  'hono',
  'kysely',
  'pg',
  'pino',
  'prom-client',
  're2js',
  'swagger-ui-dist',
  'tsx',
  'ws',
  'yaml',
  'zod',
  'zod-openapi',
];

/** Where the worker for graphs in Python is, beside the folder of the agent server. */
const workerFolder = 'python/landfall_worker';

type Parts = ReturnType<typeof partsOf>;

/** What a program needs of this installation. @throws Error where the layout of the installation can't be copied. */
function partsOf({ agentServer }: AgentProgramFiles) {
  let root = dirname(realpathSync(agentServer));
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  const [first = ''] = relative(root, realpathSync(agentServer)).split(sep);
  const packages = packagesOf(agentServerPackages, root);
  const base = packages.reduce(commonFolder, root);
  const own = [join(root, first), ...[join(root, workerFolder)].filter(existsSync)];
  return { base, own, folders: [...own, ...packages], files: [join(root, 'package.json')] };
}

/** Every file and folder of a program, besides Node.js; it needs no others. */
export function programParts(program: AgentProgramFiles): string[] {
  const { folders, files } = partsOf(program);
  return [...files, ...folders];
}

/** A sample of files that shows whether a program is readable: npm writes each package under one umask. */
export function sampleFiles(program: AgentProgramFiles): string[] {
  const { folders, files } = partsOf(program);
  return [program.agentServer, ...files, ...folders.map((folder) => join(folder, 'package.json')).filter(existsSync)];
}

/** Copies a program into root's folder, where every user can run it; once for each state of the installation. */
export function copyProgram(program: AgentProgramFiles, systemFolder: string): AgentProgramFiles {
  const parts = partsOf(program);
  const owner = `program-${shortHash([parts.base])}`;
  const target = join(ensureRootFolder(systemFolder), `${owner}-${shortHash(statesOf(program, parts))}`);
  if (!existsSync(target)) {
    // Copied aside and renamed: the final name is always complete, also with two concurrent services.
    const aside = mkdtempSync(`${target}-copying-`);
    for (const part of [...parts.files, ...parts.folders]) copy(part, join(aside, relative(parts.base, part)));
    copy(program.node, join(aside, 'node', 'node'));
    writeFileSync(noteIn(aside), parts.base);
    makeReadable(aside);
    moveInto(aside, target);
    removeFormer(systemFolder, owner, basename(target));
  }
  ensureRootFolder(target);
  const agentServer = join(target, relative(parts.base, realpathSync(program.agentServer)));
  return { node: join(target, 'node', 'node'), agentServer };
}

function statesOf({ node }: AgentProgramFiles, { files, folders, own: ownFolders }: Parts): string[] {
  const own = ownFolders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('__pycache__'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const installed = folders.slice(ownFolders.length).map((folder) => join(folder, 'package.json'));
  return [node, ...files, ...own, ...installed].toSorted().map((path) => {
    const { size, mtimeMs } = lstatSync(path);
    return `${path} ${size} ${mtimeMs}`;
  });
}

/** Inner links stay links. */
const copy = (from: string, to: string): void =>
  cpSync(realpathSync(from), to, { recursive: true, verbatimSymlinks: true });

/** Keeps one previous copy: a running service may still start agents with it. */
function removeFormer(systemFolder: string, owner: string, current: string): void {
  const former = readdirSync(systemFolder)
    .filter((name) => name.startsWith(`${owner}-`) && name !== current && !name.includes('-copying-'))
    .map((name) => ({ path: join(systemFolder, name), at: lstatSync(join(systemFolder, name)).ctimeMs }))
    .toSorted((one, other) => other.at - one.at);
  for (const { path } of former.slice(1)) rmSync(path, { recursive: true, force: true });
}

function commonFolder(one: string, other: string): string {
  let folder = one;
  while (relative(folder, other).startsWith('..')) folder = dirname(folder);
  return folder;
}

const shortHash = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16);

const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({ dependencies: versions, optionalDependencies: versions, peerDependencies: versions });

/**
 * The folders of packages and their dependencies, as Node.js resolves them from `root`, without nested ones. @throws
 * Error for a package that is not installed, or that is a link to a folder outside.
 */
export function packagesOf(names: readonly string[], root: string): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string, isOptional: boolean): void => {
    const folder = locate(name, from);
    if (folder === undefined) {
      if (isOptional) return;
      throw new Error(`the package ${name} is not installed`);
    }
    if (realpathSync(folder) !== folder) throw new Error(`${folder} is a link`);
    if (found.has(folder)) return;
    found.add(folder);
    const read = manifest.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    const optional = new Set([...Object.keys(read.optionalDependencies), ...Object.keys(read.peerDependencies)]);
    for (const needed of new Set([...Object.keys(read.dependencies), ...optional])) {
      visit(needed, folder, optional.has(needed));
    }
  };
  for (const name of names) visit(name, realpathSync(root), false);
  const folders = [...found];
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/node_modules/`)));
}

function locate(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name);
    if (existsSync(join(candidate, 'package.json'))) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}
