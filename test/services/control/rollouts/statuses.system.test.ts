import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { databaseNamed } from '../databases-of.ts';
import {
  change,
  closeAll,
  deploy,
  gate,
  goesLive,
  openMachine,
  startService,
  reaches,
  restate,
  revise,
} from './running-service.ts';
import { until, type Machine, type RunningService } from './running-service.ts';

afterEach(closeAll);

const statusOf = async ({ control }: RunningService, id: string): Promise<string> =>
  (await control.getDeployment(id)).status;

/** Runs a statement about a deployment's database or role as the administrator. */
async function asAdministrator({ databaseUrl }: Machine, statement: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

test('awaits its database during its first revision, and is ready once it exists', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const instance = await startService(machine);
  const requested = await deploy(instance, { config: { build_command: slow.command } });
  await until(slow.waits);
  expect(await statusOf(instance, requested.id)).toBe('AWAITING_DATABASE');
  await instance.control.interruptRevision(requested.id, requested.revisionId);
  expect(await statusOf(instance, requested.id)).toBe('UNUSED');
  await instance.control.patchDeployment(requested.id, { source_config: { build_command: 'true' } });
  const next = await revise(instance, requested.id, restate);
  expect(await statusOf(instance, requested.id)).toBe('AWAITING_DATABASE');
  await reaches(instance, requested.id, next, ['DEPLOYED']);
  expect(await statusOf(instance, requested.id)).toBe('READY');
});

test('is unused after a failed first build', async () => {
  const instance = await startService(await openMachine());
  const requested = await deploy(instance, { config: { build_command: 'false' } });
  await reaches(instance, requested.id, requested.revisionId, ['BUILD_FAILED']);
  expect(await statusOf(instance, requested.id)).toBe('UNUSED');
});

test('is unknown after a manual drop of its database, ready after a new revision', async () => {
  const machine = await openMachine();
  const instance = await startService(machine, { pollMs: 40 });
  const [requested, other] = [await deploy(instance), await deploy(instance)];
  await goesLive(instance, requested);
  await goesLive(instance, other);
  await dropAgentDatabase(machine.databaseUrl, await databaseNamed(machine.databaseUrl, requested.id));
  await until(async () => (await statusOf(instance, requested.id)) === 'UNKNOWN');
  expect(await instance.control.getDeployment(requested.id)).toMatchObject({
    status_message: expect.stringContaining('database does not answer'),
    active_revision_id: requested.revisionId,
  });
  expect(await statusOf(instance, other.id)).toBe('READY');
  await reaches(instance, requested.id, await revise(instance, requested.id, restate), ['DEPLOYED']);
  expect(await statusOf(instance, requested.id)).toBe('READY');
});

test('is unknown while its role may not log in', async () => {
  const machine = await openMachine();
  const instance = await startService(machine, { pollMs: 40 });
  const requested = await deploy(instance);
  await goesLive(instance, requested);
  const { role } = await databaseNamed(machine.databaseUrl, requested.id);
  await asAdministrator(machine, `alter role "${role}" nologin`);
  await until(async () => (await statusOf(instance, requested.id)) === 'UNKNOWN');
  await asAdministrator(machine, `alter role "${role}" login`);
  await until(async () => (await statusOf(instance, requested.id)) === 'READY');
  expect(instance.logged).toEqual([]);
});
