// A step of a build: `prepare ui <graph configuration file>` makes what the agent server needs from the agent's sources.
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { formatProblem } from '../diagnostics/problem.ts';
import { stackOf } from '../errors.ts';
import { readGraphConfig } from '../graph-config/read.ts';
import type { GraphConfig } from '../graph-config/schema.ts';
import { writePrepared } from './prepared.ts';
import { bundleUi, UiBuildError } from './ui/bundle-ui.ts';

const [, , what, configPath = ''] = process.argv;
try {
  if (what !== 'ui') throw new Error(`Unknown step "${what}". Pass \`ui\`.`);
  const bundles = await bundleUi(readConfig(), dirname(configPath));
  writePrepared(configPath, 'ui', Object.fromEntries(bundles));
} catch (error) {
  for (const line of error instanceof UiBuildError ? error.lines : [stackOf(error)]) process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}

function readConfig(): GraphConfig {
  const read = readGraphConfig(readFileSync(configPath, 'utf8'), basename(configPath));
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'));
  return read.value;
}
