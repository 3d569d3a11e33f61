import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  openGround,
  openHouse,
  reaches,
  restate,
  revise,
  until,
} from './house.ts';

afterEach(closeAll);

test('a revision that a disk has no space for fails with what to do, and what is live goes on serving', async () => {
  const ground = await openGround();
  const before = await openHouse(ground);
  const live = await deploy(before);
  await goesLive(before, live);
  await before.close();

  const wanted: number[] = [];
  const makeRoom = async (bytes: number): Promise<void> => void wanted.push(bytes);
  const house = await openHouse(ground, { buildBounds: { leastFreeBytes: 1e18 }, makeRoom });
  const revisionId = await revise(house, live.id, restate);
  const failed = await reaches(house, live.id, revisionId, ['BUILD_FAILED']);
  expect(failed.status_message).toMatch(/^Only \d+ MB are left on the disk .* deploy again\.$/);
  expect(wanted).toEqual([2e18]);
  const url = (await house.control.getDeployment(live.id)).url ?? '';
  await until(async () => (await answering(url)) === live.revisionId);
  expect((await house.control.getDeployment(live.id)).active_revision_id).toBe(live.revisionId);
  expect(readdirSync(join(ground.dataDir, 'builds'))).toEqual([live.revisionId]);
});
