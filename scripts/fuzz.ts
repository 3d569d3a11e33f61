// Plays hostile input against the running services and the App, for longer than the tests do.
//   npm run fuzz                    10,000 cases a test
//   npm run fuzz -- 500             500
//   npm run fuzz -- 500 answers     those tests only whose path has this word
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';

const [cases = '10000', ...words] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(cases)) {
  console.error(`"${cases}" is not a number of cases. Give a whole number, as in: npm run fuzz -- 500`);
  process.exit(2);
}
const folders = words.length > 0 ? words : ['test/fuzz', 'test/services/control/fuzz', 'test/services/agent/fuzz'];
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--testTimeout=3600000', ...folders],
  { cwd: dirname(import.meta.dirname), stdio: 'inherit', env: { ...process.env, LANDFALL_FUZZ: cases } },
);
process.exit(status ?? 1);
