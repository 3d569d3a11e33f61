import { afterEach, expect, test } from 'vitest';
import { lastLogMessages } from '../../../../src/services/control/compute/log-line.ts';
import { answering, closeAll, deploy, goesLive, until, openMachine, startService } from './running-service.ts';
import { steadyLoad } from './steady-load.ts';

afterEach(closeAll);

test.each([
  ['stopped', false],
  ['idle', true],
])('ten deploys under load: no failed call, and each former agent is %s', async (_, idle) => {
  const instance = await startService(await openMachine(), { idle });
  const first = await deploy(instance);
  await goesLive(instance, first);
  const load = steadyLoad(first.url);
  const revisions = [first.revisionId];
  for (let deployed = 0; deployed < 10; deployed += 1) {
    const { latest_revision_id } = await instance.control.redeployRevision(first.id, first.revisionId);
    const revisionId = latest_revision_id ?? '';
    await goesLive(instance, { id: first.id, revisionId });
    expect(await answering(first.url)).toBe(revisionId);
    revisions.push(revisionId);
    const enough = { plain: load.tally.plain + 20, streams: load.tally.streams + 6 };
    await until(() => load.tally.plain >= enough.plain && load.tally.streams >= enough.streams);
  }
  await load.end();
  expect(load.tally.failed).toEqual([]);
  expect(load.tally.streams).toBeGreaterThan(50);
  const hasStopped = async (revisionId: string): Promise<boolean> => {
    const { logs } = await instance.control.deployLogs(first.id, revisionId, { order: 'desc', limit: 3 });
    return logs.some(({ message }) => message === (idle ? lastLogMessages.idle : lastLogMessages.stopped));
  };
  for (const revisionId of revisions.slice(0, -1)) await until(() => hasStopped(revisionId));
  expect(await hasStopped(revisions.at(-1) ?? '')).toBe(false);
});
