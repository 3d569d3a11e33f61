// A step of a build, for the agent server: `prepare ui <graph configuration file>` bundles the components of its `ui`,
// `prepare schemas <graph configuration file>` reads the types of its graphs, `prepare engines <graph configuration
// file>` prints the versions of the graph engine that they import, and `prepare python <graph configuration file>`
// imports those in Python by the interpreter LANDFALL_PYTHON.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { engineLinePrefix, enginePackage } from '../../agent-folder/packages/lock-files.ts';
import { importOutcomeLine } from '../../agent-folder/packages/python/import-outcome.ts';
import { systemClock } from '../../kit/clock.ts';
import { formatProblem } from '../../kit/diagnostics/problem.ts';
import { messageOf, stackOf } from '../../kit/errors.ts';
import { graphLocations } from '../../agent-folder/graph-config/graph-path.ts';
import { graphLanguage } from '../../agent-folder/graph-config/language.ts';
import { readGraphConfig } from '../../agent-folder/graph-config/read.ts';
import type { GraphConfig } from '../../agent-folder/graph-config/schema.ts';
import { readsAssistant } from './graphs/graph.ts';
import { createLogger } from '../../kit/logger.ts';
import { packageVersion } from './graphs/javascript/package-entry.ts';
import { removePrepared, writePrepared } from './prepared.ts';
import { StartupError } from './startup-error.ts';
import { UiBuildError } from './ui/ui-bundles.ts';

const [, , what, configPath = ''] = process.argv;
const folder = dirname(configPath);
try {
  if (what === 'ui') await prepareUi(readConfig());
  else if (what === 'schemas') await prepareSchemas(readConfig());
  else if (what === 'engines') printEngines(readConfig());
  else if (what === 'python') await preparePython();
  else throw new Error(`Unknown step "${what}". Pass \`ui\`, \`schemas\`, \`engines\` or \`python\`.`);
} catch (error) {
  for (const line of error instanceof UiBuildError ? error.lines : [stackOf(error)]) process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
// A plugin of the agent may keep something open.
process.stdout.write('', () => process.exit());

async function prepareUi(config: GraphConfig): Promise<void> {
  removePrepared(configPath, 'ui');
  const { bundleUi } = await import('./ui/bundle-ui.ts');
  writePrepared(configPath, 'ui', Object.fromEntries(await bundleUi(config, folder)));
}

async function prepareSchemas(config: GraphConfig): Promise<void> {
  removePrepared(configPath, 'schemas');
  const { findCompiler } = await import('./graphs/javascript/static-schemas/compiler.ts');
  const { readSchemas } = await import('./graphs/javascript/static-schemas/read-schemas.ts');
  const found = findCompiler(folder);
  if (found.kind === 'lacking') {
    const { mayNeedTypes } = await import('./graphs/javascript/static-schemas/read-schemas.ts');
    if (!mayNeedTypes(folder)) return;
    process.stdout.write(`Schemas of graphs annotated in TypeScript have names only. ${found.reason}\n`);
    return;
  }
  const places = graphLocations(config).filter(({ file }) => graphLanguage(file) === 'typescript');
  const schemas = readSchemas(found.compiler, places, folder);
  writePrepared(configPath, 'schemas', schemas);
  const read = Object.keys(schemas.graphs).join(', ') || 'none';
  process.stdout.write(`Read the types of graphs with TypeScript ${found.compiler.version}: ${read}\n`);
}

function printEngines(config: GraphConfig): void {
  const versions = graphLocations(config).map(({ file }) => packageVersion(enginePackage, resolve(folder, file)));
  for (const version of new Set(versions))
    if (version !== undefined) process.stdout.write(`${engineLinePrefix}${version}\n`);
}

/** Imports what is in Python as a start would, but without the deployment's secrets, and keeps the graphs' schemas. */
async function preparePython(): Promise<void> {
  removePrepared(configPath, 'python-schemas');
  const { readConfiguration } = await import('./configuration.ts');
  const { loadPython } = await import('./graphs/python/load.ts');
  const log = createLogger({ name: 'prepare', level: 'silent', destination: process.stderr });
  const configuration = readConfiguration(configPath, log, { python: true });
  const python = process.env['LANDFALL_PYTHON'] ?? '';
  Object.assign(process.env, { ...configuration.env, ...process.env });
  try {
    const loaded = await loadPython(configuration, configPath, { python, log, clock: systemClock, startsApp: false });
    const schemas: Record<string, unknown> = {};
    for (const each of loaded?.graphs ?? []) {
      const graph = await each.make({ configurable: {}, runtime: readsAssistant });
      // What a factory needs may be a secret.
      const own = await graph.ownSchemas?.().catch(() => undefined);
      if (own) schemas[each.graphId] = own;
    }
    writePrepared(configPath, 'python-schemas', schemas);
    process.stdout.write(`${importOutcomeLine({ ok: true, graphs: Object.keys(schemas) })}\n`);
  } catch (error) {
    const { code = 'graph-threw', lines = [messageOf(error)], cause } = error instanceof StartupError ? error : {};
    const [message = '', ...stack] = lines;
    const type = cause instanceof Error ? cause.name : undefined;
    process.stdout.write(`${importOutcomeLine({ ok: false, code, type, message, stack: stack.join('\n') })}\n`);
  }
}

function readConfig(): GraphConfig {
  const read = readGraphConfig(readFileSync(configPath, 'utf8'), basename(configPath));
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.value;
}
