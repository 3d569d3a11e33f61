// Measures what Landfall costs beside the least that is possible and beside what others take.
//   npm run bench                                 every figure, as a table
//   npm run bench -- --only poll-cpu --json FILE  one of them, written down as well
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { agentRuns } from './agent-runs.ts';
import { builds } from './builds.ts';
import { bundleSize } from './bundle-size.ts';
import { burst } from './burst.ts';
import { controlLoad } from './control-load.ts';
import { figuresOf, type Measured } from './figure.ts';
import { intake } from './intake.ts';
import { pollCpu } from './poll-cpu.ts';
import { push } from './push.ts';
import { sseParse } from './sse-parse.ts';
import { start } from './start.ts';
import { stored } from './stored.ts';
import { tableOf } from './table.ts';

/** What measures each family of figures. A family may need packages or servers that another does without. */
const families: Readonly<Record<string, () => Promise<Measured[]>>> = {
  'bundle-size': bundleSize,
  start,
  'poll-cpu': pollCpu,
  'sse-parse': sseParse,
  'agent-runs': agentRuns,
  intake,
  stored,
  push,
  builds,
  burst,
  'control-load': controlLoad,
};

/** Takes many minutes, so it runs only if named. */
const longer: typeof families = {
  'app-histories': async () => (await import('./app-histories.ts')).appHistories(),
};
const known = { ...families, ...longer };

const usage = `npm run bench -- [--only FAMILY]... [--json FILE]\nfamilies: ${Object.keys(known).join(', ')}`;

/** The arguments. Prints usage without a stack trace if they are invalid. */
function readArguments() {
  try {
    const options = {
      json: { type: 'string' },
      only: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    } as const;
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}

const values = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const requested = values.only ?? Object.keys(families);
const unknown = requested.filter((name) => !(name in known));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(', ')}; there are ${Object.keys(known).join(', ')}.`);
  process.exit(2);
}

const load = () => loadavg().map((each) => each.toFixed(1));
console.log(
  `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), Node ${process.versions.node}.`,
);
console.log('Trust the ratios: contenders take turns in one run, and the figures are medians of their rounds.');
console.log(`Load before: ${load().join(' ')}\n`);

const all: Measured[] = [];
const failed: string[] = [];
for (const name of requested) {
  try {
    const measured = (await known[name]?.()) ?? [];
    console.log(tableOf(measured));
    all.push(...measured);
  } catch (error) {
    // One that can't be measured here takes nothing from the others.
    console.error(`${name} could not be measured: ${error instanceof Error ? error.stack : String(error)}\n`);
    failed.push(name);
  }
}
console.log(`Load after: ${load().join(' ')}`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(all.flatMap(figuresOf), null, 2)}\n`);
if (failed.length > 0) process.exitCode = 1;
