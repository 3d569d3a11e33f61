// Plays many random histories of the App on models of its environment, and checks that none breaks an invariant.
//   npm run bench -- --only app-histories     100,000 histories; some 20 minutes on two cores
import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { argv } from 'node:process';
import * as z from 'zod';
import { appCode } from '../test/app/simulation/app-code.ts';
import { histories } from '../test/app/simulation/commands.ts';
import { searched } from '../test/app/simulation/searched.ts';
import type { Measured } from './figure.ts';
import { sized } from './rounds.ts';

const all = sized(100_000, 40);
/** How many are played with one seed, and how many commands they have at most. */
const share = sized(2_500, 20);
const maxCommands = 16;

const shareRequest = z.object({ seed: z.int(), runs: z.int().positive() });
const shareResult = z.object({ notes: z.string(), played: z.number() });

/** Histories in which an invariant was broken, and how many are played in a second. */
export async function appHistories(): Promise<Measured[]> {
  const began = performance.now();
  const first = randomInt(1_000_000_000);
  const seeds = Array.from({ length: all / share }, (_, nth) => first + nth);
  const broken: string[] = [];
  let played = 0;
  const worker = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
      const round = await playInProcess(seed);
      played += round.played;
      if (round.notes !== '') broken.push(round.notes);
      console.error(`${played} histories, ${broken.length} of them broke an invariant`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  for (const notes of broken) console.error(`\n${notes}`);
  const seconds = (performance.now() - began) / 1_000;
  return [
    {
      figure: 'app-histories',
      unit: 'histories that break an invariant',
      ours: broken.length,
      notes: { ours: `of ${played}, from seed ${first} on` },
      targets: [{ of: 'ours', most: 0 }],
    },
    {
      figure: 'app-histories-speed',
      unit: 'histories a second',
      ours: played / seconds,
      notes: { ours: `on ${availableParallelism()} processes` },
      targets: [],
    },
  ];
}

/** One share of the histories in a process of its own. */
function playInProcess(seed: number): Promise<z.infer<typeof shareResult>> {
  const child = fork(import.meta.filename, [JSON.stringify({ seed, runs: share })], {
    stdio: ['ignore', 2, 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(shareResult.parse(message)));
    child.once('exit', (code) => reject(new Error(`the histories of seed ${seed} ended with ${code}`)));
  });
}

if (process.send && argv[1] === import.meta.filename) {
  const { seed, runs } = shareRequest.parse(JSON.parse(argv[2] ?? ''));
  const { reported: notes, played } = await searched(histories(maxCommands), appCode, { numRuns: runs, seed });
  process.send({ notes, played }, () => process.exit());
}
