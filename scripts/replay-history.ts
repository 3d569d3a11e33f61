// Plays one simulated history of the App again, and prints what was done and what the App logged.
//   node scripts/ready.mjs scripts/replay-history.ts 2026 17       seed and path, as a test or a benchmark reports them
//   node scripts/ready.mjs scripts/replay-history.ts 5 0 16        of histories with up to 16 commands; 14 by default
import * as fc from 'fast-check';
import { appCode } from '../test/app/simulation/app-code.ts';
import { histories } from '../test/app/simulation/commands.ts';
import { searched } from '../test/app/simulation/searched.ts';

const [seed, path = '0', commands = '14'] = process.argv.slice(2);
if (!/^-?\d+$/.test(seed ?? '') || !/^\d+(:\d+)*$/.test(path) || !/^\d+$/.test(commands)) {
  console.error('Give the seed and the path of a history, as in: scripts/replay-history.ts 2026 17');
  process.exit(2);
}
const parameters = { seed: Number(seed), path, numRuns: 1 };
const [history] = fc.sample(histories(Number(commands)), parameters);
for (const each of [history?.setting, ...(history?.commands ?? [])]) console.log(JSON.stringify(each));
const { reported, traces } = await searched(histories(Number(commands)), appCode, {
  ...parameters,
  endOnFailure: true,
});
console.log(traces.at(-1)?.join('\n'));
console.log(reported === '' ? 'It keeps every invariant.' : reported);
process.exitCode = reported === '' ? 0 : 1;
