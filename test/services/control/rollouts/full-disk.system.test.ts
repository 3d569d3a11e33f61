import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  openMachine,
  startService,
  reaches,
  restate,
  revise,
  until,
} from './running-service.ts';

afterEach(closeAll);

test('a full disk fails the revision with advice, and the live one keeps serving', async () => {
  const machine = await openMachine();
  const before = await startService(machine);
  const live = await deploy(before);
  await goesLive(before, live);
  await before.close();

  const wanted: number[] = [];
  const makeRoom = async (bytes: number): Promise<void> => void wanted.push(bytes);
  const instance = await startService(machine, { buildBounds: { minFreeBytes: 1e18 }, makeRoom });
  const revisionId = await revise(instance, live.id, restate);
  const failed = await reaches(instance, live.id, revisionId, ['BUILD_FAILED']);
  expect(failed.status_message).toMatch(/^Only \d+ MB are left on the disk .* deploy again\.$/);
  expect(wanted).toEqual([2e18]);
  const url = (await instance.control.getDeployment(live.id)).url ?? '';
  await until(async () => (await answering(url)) === live.revisionId);
  expect((await instance.control.getDeployment(live.id)).active_revision_id).toBe(live.revisionId);
  expect(readdirSync(join(machine.dataDir, 'builds'))).toEqual([live.revisionId]);
});
