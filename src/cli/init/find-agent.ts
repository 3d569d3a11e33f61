import { existsSync, readdirSync } from 'node:fs';
import { basename, isAbsolute, join, posix } from 'node:path';
import { graphLocations, type GraphLocation } from '../../agent-folder/graph-config/graph-path.ts';
import { readGraphConfig } from '../../agent-folder/graph-config/read.ts';
import { maxDeploymentNameLength } from '../../contract/control/field-values.ts';
import { readTextFile } from '../../host/workspace.ts';
import { problemOfFile, type Problem } from '../../kit/diagnostics/problem.ts';
import { trimEndOf, trimStartOf } from '../../kit/plain-text.ts';

const configName = 'langgraph.json';

/** The agent that a deploy file is written for. */
export interface FoundAgent {
  /** Path of its graph configuration, from the working directory, with slashes. */
  configPath: string;
  /** The folder that is uploaded, from the working directory. */
  sourceDir: string;
  /** Path of the graph configuration from that folder. */
  graphConfigPath: string;
  /** A name for the deployment. */
  name: string;
  graphs: GraphLocation[];
  /** Names of the environment variables that it wants, from its env file. */
  variables: string[];
}

export type FindResult = { ok: true; agent: FoundAgent } | { ok: false; problems: Problem[] };

/** Finds the agent of the working directory, or the one at `requested`, a folder or its graph configuration file. */
export function findAgent(requested: string | undefined): FindResult {
  const refuse = (file: string, message: string): FindResult => ({
    ok: false,
    problems: [problemOfFile(file, message)],
  });
  const [first, ...others] = requested === undefined ? findConfigs('.') : [configAt(requested)];
  if (first === undefined) {
    const message = `there is no ${configName} here or in a folder below. Write one that names the file of the graph, such as { "graphs": { "agent": "./src/agent.ts:graph" } }, and run landfall init again`;
    return refuse(configName, message);
  }
  if (others.length > 0) {
    const choices = [first, ...others].map((path) => `--agent ${posix.dirname(path)}`);
    return refuse(configName, `there are several agents here. Choose one with ${choices.join(' or ')}`);
  }
  if (isAbsolute(first) || first.startsWith('..')) return refuse('--agent', 'the agent must be in this folder');
  const file = readTextFile(first);
  if (file.kind === 'unreadable') return { ok: false, problems: [file.problem] };
  if (file.kind === 'absent') return refuse(first, 'this graph configuration file does not exist');
  const read = readGraphConfig(file.text, first);
  if (!read.ok) return read;
  const { env } = read.value;
  const folder = posix.dirname(first);
  const sourceDir = sourceDirOf(folder);
  return {
    ok: true,
    agent: {
      configPath: first,
      sourceDir,
      graphConfigPath: posix.relative(sourceDir, first),
      name: nameOf(folder),
      graphs: graphLocations(read.value),
      variables: variablesOf(folder, typeof env === 'string' ? [env, '.env.example'] : ['.env.example']),
    },
  };
}

/** A path that a person gave, of the agent's folder or of its configuration file. */
function configAt(requested: string): string {
  const path = posix.normalize(requested.replaceAll('\\', '/'));
  return path.endsWith('.json') ? path : posix.join(path, configName);
}

const maxDepth = 5;
const skipped = new Set(['node_modules', 'venv', 'dist', 'build', '__pycache__', 'site-packages']);

/** The graph configuration files of a folder and those below it, without hidden folders and installed packages. */
function findConfigs(folder: string, depth = 0): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const own = entries.some((entry) => entry.name === configName && entry.isFile());
  const below = entries.filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !skipped.has(entry.name),
  );
  return [
    ...(own ? [posix.join(folder, configName)] : []),
    ...(depth < maxDepth ? below.flatMap(({ name }) => findConfigs(posix.join(folder, name), depth + 1)) : []),
  ];
}

const lockFiles = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'uv.lock',
];
const manifests = ['requirements.txt', 'pyproject.toml', 'setup.py'];

/** In a workspace of packages the lock file is further up, and an installation needs all of that folder. */
function sourceDirOf(folder: string): string {
  const has = (place: string, names: readonly string[]): boolean => names.some((name) => existsSync(join(place, name)));
  if (has(folder, [...lockFiles, ...manifests])) return folder;
  for (let place = folder; place !== '.' && !place.startsWith('..');) {
    place = posix.dirname(place);
    if (has(place, lockFiles)) return place;
  }
  return folder;
}

/** The name of the agent's folder, in the letters that every service takes. */
function nameOf(folder: string): string {
  const name = basename(folder === '.' ? process.cwd() : folder);
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxDeploymentNameLength);
  return trimEndOf(trimStartOf(plain, '-'), '-') || 'agent';
}

/** The names in the first of these env files that can be read. Values stay unread by everything else. */
function variablesOf(folder: string, files: readonly string[]): string[] {
  const found = files.map((file) => readTextFile(join(folder, file))).find(({ kind }) => kind === 'read');
  const lines = found?.kind === 'read' ? found.text.split('\n') : [];
  const names = lines.flatMap((line) => /^\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=/.exec(line)?.[1] ?? []);
  return [...new Set(names)];
}
