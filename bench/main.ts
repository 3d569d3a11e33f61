// Measures what Landfall costs beside the least that is possible and beside what others take.
//   npm run bench                                 every figure, as a table
//   npm run bench -- --only poll-cpu --json FILE  one of them, written down as well
//   LANDFALL_BENCH_TINY=1 npm run bench           once and small: shows that each can be measured; its figures mean nothing
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { families, slowFamilies } from './families.ts';
import { figuresOf, type Measured } from './figure.ts';
import { tableOf } from './table.ts';

const usage = `npm run bench -- [--only FAMILY]... [--json FILE]\nfamilies: ${Object.keys(families).join(', ')}`;

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
const requested = values.only ?? Object.keys(families).filter((name) => !slowFamilies.includes(name));
const unknown = requested.filter((name) => !(name in families));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(', ')}; there are ${Object.keys(families).join(', ')}.`);
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
    const measured = (await families[name]?.()) ?? [];
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
