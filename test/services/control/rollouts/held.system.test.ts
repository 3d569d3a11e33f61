import { afterEach, describe, expect, test } from 'vitest';
import { hold } from '../../../../src/contract/control/revision.ts';
import type { WriteOptions } from '../../../../src/contract/control/service.ts';
import { refusalOf } from '../service-fixture.ts';
import {
  answering,
  closeAll,
  deploy,
  goesLive,
  logOf,
  openMachine,
  overHttp,
  reaches,
  requestAgent,
  restate,
  startService,
  until,
  type RunningService,
} from './running-service.ts';

afterEach(closeAll);

async function liveService(): Promise<{ service: RunningService; id: string; url: string; live: string }> {
  const service = overHttp(await startService(await openMachine()));
  const { id, url, revisionId } = await deploy(service);
  await goesLive(service, { id, revisionId });
  return { service, id, url, live: revisionId };
}

/** Makes a revision with a hold, and waits until it is held. */
async function heldRevision({ control }: RunningService, id: string, options: WriteOptions = { holdSeconds: 600 }) {
  const { latest_revision_id } = await control.patchDeployment(id, restate, options);
  const revisionId = latest_revision_id ?? '';
  const shown = async () => hold.parse((await control.getRevision(id, revisionId)).hold);
  await until(async () => (await shown()).ends_at !== null);
  const { address, ends_at } = await shown();
  await until(async () => (await answering(address)) === revisionId);
  return { revisionId, address, endsAt: ends_at };
}

test('a held candidate serves none of the requests, answers by itself, and gets them all once it is promoted', async () => {
  const { service, id, url, live } = await liveService();
  const { control } = service;
  const seen = { going: true, answered: new Array<string>() };
  const load = Array.from({ length: 4 }, async () => {
    while (seen.going) seen.answered.push(await answering(url));
  });
  const { revisionId, address } = await heldRevision(service, id);
  const enough = seen.answered.length + 100;
  await until(() => seen.answered.length > enough);
  expect(new Set(seen.answered)).toEqual(new Set([live]));
  expect(await control.getRevision(id, revisionId)).toMatchObject({ status: 'DEPLOYING', hold: { decision: null } });
  // A newer one waits, with its own hold.
  const { latest_revision_id } = await control.patchDeployment(id, restate, { holdSeconds: 600 });
  expect(await control.getRevision(id, latest_revision_id ?? '')).toMatchObject({
    status: expect.stringMatching(/^(CREATING|QUEUED)$/),
    hold: { ends_at: null },
  });
  await control.interruptRevision(id, latest_revision_id ?? '');

  const promoted = await control.promoteRevision(id, revisionId, { why: 'All tests passed.' });
  expect(promoted.hold?.decision).toBe('promoted');
  await goesLive(service, { id, revisionId });
  expect(await answering(url)).toBe(revisionId);
  seen.going = false;
  await Promise.all(load);
  expect(new Set(seen.answered)).toEqual(new Set([live, revisionId]));
  expect((await requestAgent(address, '/ok')).status).toBe(404);
  const held = async () => (await (await requestAgent(url, '/env')).text()).includes('LANDFALL_HOLD_UNTIL');
  expect(await held()).toBe(true);
  // Started again, it is not held.
  await requestAgent(url, '/crash');
  await until(async () => (await answering(url)) === revisionId);
  expect(await held()).toBe(false);
  expect((await control.promoteRevision(id, revisionId)).status).toBe('DEPLOYED');
  expect(await refusalOf(control.discardRevision(id, revisionId))).toMatchObject({ status: 409 });
});

describe('without a promotion the live revision goes on serving, and the held one ends', () => {
  test.each<
    [string, string, WriteOptions, (service: RunningService, id: string, revisionId: string) => Promise<unknown>]
  >([
    [
      'discarded',
      'It was discarded before it got traffic: It answered wrongly.',
      { holdSeconds: 600 },
      ({ control }, id, revisionId) => control.discardRevision(id, revisionId, { why: 'It answered wrongly.' }),
    ],
    [
      'interrupted',
      'It was interrupted on request.',
      { holdSeconds: 600 },
      ({ control }, id, revisionId) => control.interruptRevision(id, revisionId),
    ],
    [
      'not decided in time',
      'It was held for 2 s and not promoted, so it was discarded. Redeploy it, and promote it in time.',
      { holdSeconds: 2 },
      async () => undefined,
    ],
  ])('%s', async (_, message, options, end) => {
    const { service, id, url, live } = await liveService();
    const { revisionId, address } = await heldRevision(service, id, options);
    await end(service, id, revisionId);
    expect((await reaches(service, id, revisionId)).status).toBe('INTERRUPTED');
    expect((await service.control.getRevision(id, revisionId)).status_message).toBe(message);
    await until(async () => (await requestAgent(address, '/ok')).status === 404);
    await until(
      async () => (await logOf(service, revisionId, 'deploy')).at(-1)?.startsWith('The revision was') === true,
    );
    expect(await answering(url)).toBe(live);
    expect(await refusalOf(service.control.promoteRevision(id, revisionId))).toMatchObject({ status: 409 });
  });

  test('an agent that exits', async () => {
    const { service, id, url, live } = await liveService();
    const { revisionId, address } = await heldRevision(service, id);
    await requestAgent(address, '/crash');
    const { status, status_message } = await reaches(service, id, revisionId);
    expect([status, status_message]).toEqual([
      'DEPLOY_FAILED',
      "The agent's process ended while it was held: exit code 7.",
    ]);
    expect(await answering(url)).toBe(live);
  });
});

test('a held revision is held until the same time after a restart, and a decision from before it counts', async () => {
  const { service, id, url, live } = await liveService();
  const { revisionId, address, endsAt } = await heldRevision(service, id);
  await service.close();
  const again = overHttp(await startService(service.machine));
  const moved = address.replace(/^http:\/\/[^/]+/, new URL((await again.control.getDeployment(id)).url ?? '').origin);
  await until(async () => (await answering(moved)) === revisionId);
  expect((await again.control.getRevision(id, revisionId)).hold?.ends_at).toBe(endsAt);
  await until(async () => (await answering(url.replace(/^http:\/\/[^/]+/, new URL(moved).origin))) === live);

  await again.close();
  const decision = { why: null, message: '' };
  const deciding = await startService(service.machine);
  await deciding.store.decideHold(id, revisionId, 'promoted', decision);
  await deciding.close();
  const last = await startService(service.machine);
  await goesLive(last, { id, revisionId });
});
