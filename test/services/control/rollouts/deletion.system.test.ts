import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import { processCompute } from '../../../../src/services/control/compute/process-compute.ts';
import { databaseNamed } from '../databases-of.ts';
import { fakeAgent, runs } from '../compute/agents.ts';
import { refusalOf } from '../service-fixture.ts';
import {
  requestAgent,
  change,
  closeAll,
  deploy,
  gate,
  goesLive,
  openMachine,
  startService,
  restate,
  revise,
} from './running-service.ts';
import { answering, reaches, until, type Machine, type RunningService } from './running-service.ts';
import { endWithTest } from '../../../child-process.ts';

afterEach(closeAll);

const isGone = ({ control }: RunningService, id: string): Promise<boolean> =>
  control.getDeployment(id).then(
    () => false,
    () => true,
  );

type Named = Awaited<ReturnType<typeof databaseNamed>>;

/** What is left of a deployment in Postgres: its database and its role. */
async function leftInPostgres({ databaseUrl }: Machine, of: Named): Promise<string[]> {
  const { database, role } = of;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_database where datname = $1 union all select rolname from pg_roles where rolname = $2',
    [database, role],
  );
  await client.end();
  return rows.map(({ name }) => name);
}

const builds = ({ dataDir }: Machine): string[] => readdirSync(join(dataDir, 'builds'));
const agentAt = async (url: string): Promise<number> =>
  z.object({ pid: z.number() }).parse(await (await requestAgent(url, '/pid')).json()).pid;

test(
  'deletes a deployment with its agents, database, builds and rows',
  { meta: { claims: ['control.delete.deployment'] } },
  async () => {
    const machine = await openMachine();
    const instance = await startService(machine);
    const kept = await deploy(instance);
    const requested = await deploy(instance);
    await goesLive(instance, kept);
    await goesLive(instance, requested);
    const agent = await agentAt(requested.url);
    await reaches(instance, requested.id, await revise(instance, requested.id, restate));
    const names = await databaseNamed(machine.databaseUrl, requested.id);
    expect(await leftInPostgres(machine, names)).toHaveLength(2);

    await instance.remote.deleteDeployment(requested.id);
    await until(() => isGone(instance, requested.id));
    expect(await leftInPostgres(machine, names)).toEqual([]);
    expect(builds(machine)).toEqual([kept.revisionId]);
    expect(runs(agent)).toBe(false);
    expect(await answering(requested.url)).toBe('404');
    expect(await refusalOf(instance.remote.listRevisions(requested.id, {}))).toMatchObject({ status: 404 });
    expect(await answering(kept.url)).toBe(kept.revisionId);
    expect(instance.logged).toEqual([]);
  },
);

test('lets requests in flight finish, and cuts them off after a limit', async () => {
  const instance = await startService(await openMachine(), { deletionDrainMs: 700 });
  const requested = await deploy(instance);
  await goesLive(instance, requested);
  const [quick, endless] = await Promise.all([
    requestAgent(requested.url, '/slow'),
    requestAgent(requested.url, '/endless'),
  ]);
  const cut = endless.text().then(
    () => 'ended',
    () => 'cut',
  );
  await instance.control.deleteDeployment(requested.id);
  await until(async () => (await answering(requested.url)) !== requested.revisionId);
  expect(await instance.control.getDeployment(requested.id)).toMatchObject({ status: 'AWAITING_DELETE' });
  expect(await quick.text()).toBe('begun done');
  expect(await cut).toBe('cut');
  await until(() => isGone(instance, requested.id));
});

test('kills a build under way and removes its files', async () => {
  const machine = await openMachine();
  const slow = gate(machine.root, 'slow');
  change(machine, slow.script);
  const instance = await startService(machine);
  const building = await deploy(instance, { config: { build_command: slow.command } });
  await until(slow.waits);
  const waiting = await revise(instance, building.id, restate);
  await instance.control.deleteDeployment(building.id);
  for (const id of [building.revisionId, waiting])
    expect(await instance.control.getRevision(building.id, id)).toMatchObject({ status: 'INTERRUPTED' });
  await until(() => isGone(instance, building.id));
  expect(builds(machine)).toEqual([]);
  expect(existsSync(slow.open)).toBe(false);
});

test('reports what blocks a deletion, and retries until it succeeds', async () => {
  const machine = await openMachine();
  let isAway = true;
  const compute = processCompute({ clock: systemClock, agentServer: fakeAgent, drainMs: 0 });
  const remove = async (): Promise<void> => {
    if (isAway) throw new Error('The cluster is away.');
  };
  const instance = await startService(machine, { pollMs: 30, compute: { ...compute, remove } });
  const requested = await deploy(instance);
  await goesLive(instance, requested);
  await instance.control.deleteDeployment(requested.id);
  const problem = 'It could not be deleted yet, and that is tried again: The cluster is away.';
  await until(async () => (await recorded(instance, requested.id)) === problem);
  isAway = false;
  await until(() => isGone(instance, requested.id));
  expect(instance.logged.join()).toContain('could not be deleted');
});

const recorded = ({ control }: RunningService, id: string): Promise<string | null | undefined> =>
  control.getDeployment(id).then(
    (deployment) => deployment.status_message,
    () => undefined,
  );

const left = z.array(z.object({ id: z.string(), agent: z.number() }));
const steps = ['requested', 'agents ended', 'nothing runs', 'database dropped', 'files removed'] as const;

test('resumes a deletion after a kill -9 at each of its steps', async () => {
  const machine = await openMachine();
  const script = join(import.meta.dirname, 'killed-deletion.ts');
  const service = endWithTest(spawn(process.execPath, [script, JSON.stringify(machine), ...steps]));
  const said = await new Promise<string>((resolve) => service.stdout.setEncoding('utf8').once('data', resolve));
  service.kill('SIGKILL');
  const deleting = left.parse(JSON.parse(said));
  const names = await Promise.all(deleting.map(({ id }) => databaseNamed(machine.databaseUrl, id)));
  await until(() => !deleting.some(({ agent }) => runs(agent)));

  const instance = await startService(machine);
  for (const { id } of deleting) {
    await until(() => isGone(instance, id));
  }
  for (const name of names) expect(await leftInPostgres(machine, name)).toEqual([]);
  expect(builds(machine)).toEqual([]);
  for (const step of steps) {
    const name = `held-${step.replaceAll(' ', '-')}`;
    expect(await instance.store.findTracingProject(machine.tenantId, name)).toBeUndefined();
  }
  // The guards of the agents may outlive them for a moment: the start ends them and logs it.
  expect(instance.logged.filter((line) => !/orphaned processes .* were ended/.test(line))).toEqual([]);
});
