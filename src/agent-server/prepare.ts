// A step of a build, for the agent server: `prepare ui <graph configuration file>` bundles the components of its `ui`,
// `prepare schemas <graph configuration file>` reads the types of its graphs, and `prepare engines <graph configuration file>`
// prints the versions of the graph engine that they import.
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { engineLine, enginePackage } from '../agent-packages/engine-version.ts';
import { formatProblem } from '../diagnostics/problem.ts';
import { stackOf } from '../errors.ts';
import { graphLocations } from '../graph-config/graph-path.ts';
import { graphLanguage } from '../graph-config/language.ts';
import { readGraphConfig } from '../graph-config/read.ts';
import type { GraphConfig } from '../graph-config/schema.ts';
import { packageVersion } from './graphs/package-entry.ts';
import { removePrepared, writePrepared } from './prepared.ts';
import { UiBuildError } from './ui/ui-build-error.ts';

const [, , what, configPath = ''] = process.argv;
const folder = dirname(configPath);
try {
  if (what === 'ui') await prepareUi(readConfig());
  else if (what === 'schemas') await prepareSchemas(readConfig());
  else if (what === 'engines') printEngines(readConfig());
  else throw new Error(`Unknown step "${what}". Pass \`ui\`, \`schemas\` or \`engines\`.`);
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
  const { findCompiler } = await import('./static-schemas/compiler.ts');
  const { readSchemas } = await import('./static-schemas/read-schemas.ts');
  const found = findCompiler(folder);
  if (found.kind === 'lacking') {
    const { mayNeedTypes } = await import('./static-schemas/needs-types.ts');
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
  for (const version of new Set(versions)) if (version !== undefined) process.stdout.write(`${engineLine}${version}\n`);
}

function readConfig(): GraphConfig {
  const read = readGraphConfig(readFileSync(configPath, 'utf8'), basename(configPath));
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.value;
}
