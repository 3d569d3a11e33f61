// Two copies of the App on one database and a burst of pushes: time until every webhook is answered, every deployment is
// on its newest head, and every check is reported. test/app/burst runs the same scenario.
import { playBurst } from '../test/app/burst/burst.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';
import type { Measured } from './figure.ts';
import { sized } from './rounds.ts';

const size = { pushes: sized(1_000, 20), instant: sized(45, 4), real: sized(5, 0) };

/** Times of one burst (ms), and requests of it. */
export async function burst(): Promise<Measured[]> {
  await using folder = benchFolder();
  await using postgres = await startBenchPostgres(folder.path);
  const [appDatabaseUrl, serviceDatabaseUrl] = [await postgres.database('app'), await postgres.database('service')];
  const ends = await playBurst({ folder: folder.path, appDatabaseUrl, serviceDatabaseUrl }, size);
  const wrong = [
    ...ends.deployments.filter(({ head, live }) => head !== live).map(({ name }) => `${name} is not on its head`),
    ...ends.doubledRevisions.map((each) => `revision without one cause: ${each}`),
    ...ends.doubledChecks.map((each) => `doubled check: ${each}`),
    ...ends.openChecks.map((each) => `open check: ${each}`),
  ];
  if (wrong.length > 0) throw new Error(`the burst did not end well:\n${wrong.join('\n')}`);
  const what = `${size.pushes} pushes to ${size.instant + size.real} deployments, ${size.real} of them really built`;
  const one = (figure: string, unit: string, ours: number, notes: string): Measured => ({
    figure,
    unit,
    ours,
    notes: { ours: notes },
    targets: [],
  });
  return [
    one('burst-answered', 'ms', ends.answeredMs, `${what}: until the last webhook was answered`),
    one('burst-deployed', 'ms', ends.deployedMs, 'until every deployment was on its newest head'),
    one('burst-reported', 'ms', ends.quietMs, "until every check was reported, within GitHub's rate limits"),
    one('burst-github-requests', 'requests', ends.githubRequests / size.pushes, 'for each push'),
  ];
}
