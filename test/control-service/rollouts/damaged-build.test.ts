import { readdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { processCompute } from '../../../src/control-service/compute/process-compute.ts';
import { askAgent, closeAll, deploy, goesLive, logOf, openGround, openHouse, until } from './house.ts';

afterEach(closeAll);

const example = join(import.meta.dirname, '../../../examples/echo-agent');
const files = ['langgraph.json', 'package.json', 'package-lock.json', 'src/graph.ts'];
const compute = processCompute({ clock: systemClock, drainMs: 5_000 });

const damages: ((source: string) => void)[] = [
  (source) => truncateSync(join(source, 'src/graph.ts'), 10),
  (source) => {
    rmSync(join(source, 'langgraph.json'));
    rmSync(join(source, 'node_modules'), { recursive: true });
  },
];

test('a live build that is damaged is made again and served, or the deployment says why not', async () => {
  const ground = await openGround(
    Object.fromEntries(files.map((path) => [path, readFileSync(join(example, path), 'utf8')])),
  );
  let house = await openHouse(ground, { compute });
  const asked = await deploy(house);
  await goesLive(house, asked);
  const builds = join(ground.dataDir, 'builds');
  const source = join(builds, asked.revisionId, 'source');
  for (const damage of damages) {
    await house.close();
    damage(source);
    house = await openHouse(ground, { compute });
    const url = (await house.control.getDeployment(asked.id)).url ?? '';
    await until(async () => (await askAgent(url, '/info')).status === 200);
  }
  const made = (await logOf(house, asked.revisionId, 'deploy')).filter((line) => line.includes('is made again'));
  expect(made).toEqual([
    expect.stringContaining('("src/graph.ts" is not as it was built)'),
    expect.stringContaining('is not as it was built'),
  ]);
  expect(readdirSync(builds)).toEqual([asked.revisionId]);

  await house.close();
  truncateSync(join(source, 'src/graph.ts'), 10);
  // Neither the repository nor what was kept of it is there: the deployment says so.
  renameSync(ground.repo, `${ground.repo}-away`);
  rmSync(join(ground.dataDir, 'mirrors'), { recursive: true });
  house = await openHouse(ground, { compute });
  const message = async (): Promise<string> =>
    (await house.control.getRevision(asked.id, asked.revisionId)).status_message ?? '';
  await until(async () => (await message()).includes('could not be made again'));
  expect(await message()).toContain('The build on this machine is damaged');
  renameSync(`${ground.repo}-away`, ground.repo);
  const url = (await house.control.getDeployment(asked.id)).url ?? '';
  await until(async () => (await askAgent(url, '/info')).status === 200);
}, 300_000);
