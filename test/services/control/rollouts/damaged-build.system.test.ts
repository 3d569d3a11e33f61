import { readdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { linkPackages, linkScript } from '../../../installed-packages.ts';
import {
  requestAgent,
  closeAll,
  deploy,
  goesLive,
  logOf,
  openMachine,
  startService,
  until,
} from './running-service.ts';

afterEach(closeAll);

const example = join(import.meta.dirname, '../../../../examples/echo-agent');
const files = ['langgraph.json', 'package.json', 'src/graph.ts'];
const compute = processCompute({ clock: systemClock, drainMs: 5_000 });

const damages: ((source: string) => void)[] = [
  (source) => truncateSync(join(source, 'src/graph.ts'), 10),
  (source) => {
    rmSync(join(source, 'langgraph.json'));
    rmSync(join(source, 'node_modules'), { recursive: true });
  },
];

test('rebuilds and serves a damaged live build, or says why it cannot', async () => {
  const machine = await openMachine({
    ...Object.fromEntries(files.map((path) => [path, readFileSync(join(example, path), 'utf8')])),
    'link.mjs': linkScript,
  });
  let instance = await startService(machine, { compute });
  const requested = await deploy(instance, { config: { install_command: linkPackages } });
  await goesLive(instance, requested);
  const builds = join(machine.dataDir, 'builds');
  const source = join(builds, requested.revisionId, 'source');
  for (const damage of damages) {
    await instance.close();
    damage(source);
    instance = await startService(machine, { compute });
    const url = (await instance.control.getDeployment(requested.id)).url ?? '';
    await until(async () => (await requestAgent(url, '/info')).status === 200);
  }
  const made = (await logOf(instance, requested.revisionId, 'deploy')).filter((line) =>
    line.includes('making it again'),
  );
  expect(made).toEqual([
    expect.stringContaining('("src/graph.ts" is not as it was built)'),
    expect.stringContaining('is not as it was built'),
  ]);
  expect(readdirSync(builds)).toEqual([requested.revisionId]);

  await instance.close();
  truncateSync(join(source, 'src/graph.ts'), 10);
  // Without the repository and its mirror, the deployment reports the reason.
  renameSync(machine.repo, `${machine.repo}-away`);
  rmSync(join(machine.dataDir, 'mirrors'), { recursive: true });
  instance = await startService(machine, { compute });
  const message = async (): Promise<string> =>
    (await instance.control.getRevision(requested.id, requested.revisionId)).status_message ?? '';
  await until(async () => (await message()).includes('could not be made again'));
  expect(await message()).toContain('The build on this machine is damaged');
  renameSync(`${machine.repo}-away`, machine.repo);
  const url = (await instance.control.getDeployment(requested.id)).url ?? '';
  await until(async () => (await requestAgent(url, '/info')).status === 200);
});
