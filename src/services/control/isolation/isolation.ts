import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { hasCode, messageOf } from '../../../kit/errors.ts';
import { folderKey } from '../../../kit/postgres/embedded/placement.ts';
import { firstClosed, wayTo } from '../../../kit/postgres/embedded/file-access.ts';
import { defaultSystemFolder, ensureRootFolder } from '../../../kit/postgres/embedded/system-folder.ts';
import type { ProcessUser } from '../compute/guarded-process.ts';
import type { IdRange } from '../store/agent-users.ts';
import { agentIds } from './deployment-users.ts';
import { removeTree } from '../builds/remove-tree.ts';
import { copyProgram, noteIn, sampleFiles, type AgentProgramFiles } from './program.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface Isolation {
  folder: string;
  program: AgentProgramFiles;
  /** The numbers of deployments' users; undefined where builds and agents run as this service's own user. */
  ids: IdRange | undefined;
  /** Why builds and agents run as the service's user: for the operator, and for every deploy log. */
  warning: string | undefined;
}

interface IsolationDependencies {
  dataDir: string;
  /** The program that runs an agent, where it is installed. */
  agentServer: string;
  log: Logger;
  /** Root's folder for files that other users must reach. */
  systemFolder?: string;
}

/**
 * Decides how far builds and agents are kept apart: as root every deployment gets its own user, and what such a user
 * could not reach is in root's folder. Where that is impossible all run as this service does, with a warning.
 */
export async function isolate(settings: IsolationDependencies): Promise<Isolation> {
  const { agentServer, log, systemFolder = defaultSystemFolder } = settings;
  const dataDir = realpathSync(settings.dataDir);
  const program: AgentProgramFiles = { node: process.execPath, agentServer };
  const together: Isolation = { folder: dataDir, program, ids: undefined, warning: undefined };
  if (process.getuid?.() !== 0) {
    log.warn(ofOneUser);
    return { ...together, warning: ofOneUser };
  }
  try {
    const ids = agentIds([readFileSync('/proc/self/uid_map', 'utf8'), readFileSync('/proc/self/gid_map', 'utf8')]);
    if (!ids) throw new Error('this container knows too few users');
    await removeUnowned(systemFolder, log);
    const anyone: ProcessUser = { uid: ids.first, gid: ids.first };
    const folder = reachableFolder(dataDir, anyone, systemFolder);
    if (folder !== dataDir) log.info(`Builds lie in ${folder}: the users that they run as may not enter ${dataDir}.`);
    letHandOver(folder, anyone);
    const closed = closedTo(anyone, program, sampleFiles(program));
    if (closed === undefined) return { folder, program, ids, warning: undefined };
    const copied = copyProgram(program, systemFolder);
    const still = closedTo(anyone, copied, sampleFiles(copied));
    if (still !== undefined) throw new Error(`another user can't read ${still}`);
    log.info(`Agents run a copy of this program in ${systemFolder}: their users may not read ${closed}.`);
    return { folder, program: copied, ids, warning: undefined };
  } catch (error) {
    const warning = `Agents and builds run as root, like this service, because they can't run as users of their own here: ${messageOf(error)}. Deploy only code that you would run as root, or start the service as an ordinary user.`;
    log.warn(warning);
    return { ...together, warning };
  }
}

const ofOneUser =
  "Agents and builds run as this service's own user: each can read its keys, and the files, secrets and processes of every deployment. Deploy only code that you would run yourself, or start the service as root.";

/** Removes what `isolate` created outside a data folder; does nothing where there is nothing. */
export async function removeIsolated(dataDir: string, systemFolder: string = defaultSystemFolder): Promise<void> {
  if (process.getuid?.() === 0 && existsSync(dataDir)) await removeTree(folderFor(realpathSync(dataDir), systemFolder));
}

/** Removes the folders of deleted data folders and installations: their content can be created again. */
async function removeUnowned(systemFolder: string, log: Logger): Promise<void> {
  if (!existsSync(systemFolder)) return;
  for (const name of readdirSync(systemFolder)) {
    const folder = join(systemFolder, name);
    if (!/^(agents|program)(-[0-9a-f]{16})+$/.test(name) || !existsSync(noteIn(folder))) continue;
    if (existsSync(readFileSync(noteIn(folder), 'utf8'))) continue;
    await removeTree(folder).catch((error: unknown) => {
      log.warn(`${folder}, which stands for something that is gone, could not be removed: ${messageOf(error)}`);
    });
  }
}

const folderFor = (dataDir: string, systemFolder: string): string => join(systemFolder, `agents-${folderKey(dataDir)}`);

/** Creates the folder for builds; its parent can be traversed by everyone and listed by no one. */
function reachableFolder(dataDir: string, anyone: ProcessUser, systemFolder: string): string {
  const isOpen = firstClosed({ name: 'agents', ...anyone }, wayTo(dataDir)) === undefined;
  const folder = isOpen ? dataDir : folderFor(dataDir, systemFolder);
  if (!isOpen) {
    ensureRootFolder(systemFolder);
    ensureRootFolder(folder);
    writeFileSync(noteIn(folder), dataDir, { mode: 0o600 });
  }
  const builds = join(folder, 'builds');
  mkdirSync(builds, { recursive: true });
  chmodSync(builds, 0o711);
  return folder;
}

/** @throws Error where this root may not give files to others, as on some shares and in some containers. */
function letHandOver(folder: string, { uid, gid }: ProcessUser): void {
  const tried = mkdtempSync(join(folder, 'handing-over-'));
  try {
    chownSync(tried, uid, gid);
  } finally {
    rmSync(tried, { recursive: true });
  }
}

const reading =
  'for (const file of process.argv.slice(1)) try { require("fs").closeSync(require("fs").openSync(file)) } catch { console.log(file); process.exit(3) }';

/** The first part of a program that a user can't read, tried for real. @throws Error if root may not act as them. */
function closedTo({ uid, gid }: ProcessUser, { node }: AgentProgramFiles, files: string[]): string | undefined {
  const tried = spawnSync(node, ['-e', reading, ...files], { uid, gid, cwd: '/', env: {}, encoding: 'utf8' });
  if (hasCode(tried.error, 'EACCES', 'ENOENT')) return node;
  if (tried.error) throw tried.error;
  if (tried.status === 0) return undefined;
  if (tried.status === 3) return tried.stdout.trim();
  throw new Error(`${node} ended with ${tried.status ?? tried.signal} as another user: ${tried.stderr.trim()}`);
}
