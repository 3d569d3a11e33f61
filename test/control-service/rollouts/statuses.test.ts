import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { dropAgentDatabase } from '../../../src/database/databases.ts';
import { databaseNamed } from '../databases-of.ts';
import { change, closeAll, deploy, gate, goesLive, openGround, openHouse, reaches, restate, revise } from './house.ts';
import { until, type Ground, type House } from './house.ts';

afterEach(closeAll);

const statusOf = async ({ control }: House, id: string): Promise<string> => (await control.getDeployment(id)).status;

/** Has the administrator say something to Postgres about a deployment's database or role. */
async function asAdministrator({ databaseUrl }: Ground, statement: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

test('a deployment awaits its database while its first revision is on its way, and is ready once it stands', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  change(ground, slow.script);
  const house = await openHouse(ground);
  const asked = await deploy(house, { config: { build_command: slow.command } });
  await until(slow.waits);
  expect(await statusOf(house, asked.id)).toBe('AWAITING_DATABASE');
  await house.control.interruptRevision(asked.id, asked.revisionId);
  expect(await statusOf(house, asked.id)).toBe('UNUSED');
  await house.control.patchDeployment(asked.id, { source_config: { build_command: 'true' } });
  const next = await revise(house, asked.id, restate);
  expect(await statusOf(house, asked.id)).toBe('AWAITING_DATABASE');
  await reaches(house, asked.id, next, ['DEPLOYED']);
  expect(await statusOf(house, asked.id)).toBe('READY');
});

test('one whose first build failed is unused', async () => {
  const house = await openHouse(await openGround());
  const asked = await deploy(house, { config: { build_command: 'false' } });
  await reaches(house, asked.id, asked.revisionId, ['BUILD_FAILED']);
  expect(await statusOf(house, asked.id)).toBe('UNUSED');
});

test('one whose database was dropped by hand is unknown, and ready again after the next revision', async () => {
  const ground = await openGround();
  const house = await openHouse(ground, { lookEveryMs: 40 });
  const [asked, other] = [await deploy(house), await deploy(house)];
  await goesLive(house, asked);
  await goesLive(house, other);
  await dropAgentDatabase(ground.databaseUrl, await databaseNamed(ground.databaseUrl, asked.id));
  await until(async () => (await statusOf(house, asked.id)) === 'UNKNOWN');
  expect(await house.control.getDeployment(asked.id)).toMatchObject({
    status_message: expect.stringContaining('database does not answer'),
    active_revision_id: asked.revisionId,
  });
  expect(await statusOf(house, other.id)).toBe('READY');
  await reaches(house, asked.id, await revise(house, asked.id, restate), ['DEPLOYED']);
  expect(await statusOf(house, asked.id)).toBe('READY');
});

test('one whose role may not log in is unknown until it may again', async () => {
  const ground = await openGround();
  const house = await openHouse(ground, { lookEveryMs: 40 });
  const asked = await deploy(house);
  await goesLive(house, asked);
  const { role } = await databaseNamed(ground.databaseUrl, asked.id);
  await asAdministrator(ground, `alter role "${role}" nologin`);
  await until(async () => (await statusOf(house, asked.id)) === 'UNKNOWN');
  await asAdministrator(ground, `alter role "${role}" login`);
  await until(async () => (await statusOf(house, asked.id)) === 'READY');
  expect(house.logged).toEqual([]);
});
