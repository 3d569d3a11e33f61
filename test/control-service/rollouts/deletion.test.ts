import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../src/clock.ts';
import { processCompute } from '../../../src/control-service/compute/process-compute.ts';
import { databaseNamed } from '../databases-of.ts';
import { fakeAgent, runs } from '../compute/agents.ts';
import { refusalOf } from '../worlds.ts';
import { askAgent, change, closeAll, deploy, gate, goesLive, openGround, openHouse, restate, revise } from './house.ts';
import { answering, reaches, until, type Ground, type House } from './house.ts';

afterEach(closeAll);

const isGone = ({ control }: House, id: string): Promise<boolean> =>
  control.getDeployment(id).then(
    () => false,
    () => true,
  );

type Named = Awaited<ReturnType<typeof databaseNamed>>;

/** What Postgres has of a deployment: its database and its role. */
async function leftInPostgres({ databaseUrl }: Ground, of: Named): Promise<string[]> {
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

const builds = ({ dataDir }: Ground): string[] => readdirSync(join(dataDir, 'builds'));
const agentAt = async (url: string): Promise<number> =>
  z.object({ pid: z.number() }).parse(await (await askAgent(url, '/pid')).json()).pid;

test('[control.delete.deployment] a deployment that is deleted goes with its agents, its database, its builds and its rows', async () => {
  const ground = await openGround();
  const house = await openHouse(ground);
  const kept = await deploy(house);
  const asked = await deploy(house);
  await goesLive(house, kept);
  await goesLive(house, asked);
  const agent = await agentAt(asked.url);
  await reaches(house, asked.id, await revise(house, asked.id, restate));
  const names = await databaseNamed(ground.databaseUrl, asked.id);
  expect(await leftInPostgres(ground, names)).toHaveLength(2);

  await house.remote.deleteDeployment(asked.id);
  await until(() => isGone(house, asked.id));
  expect(await leftInPostgres(ground, names)).toEqual([]);
  expect(builds(ground)).toEqual([kept.revisionId]);
  expect(runs(agent)).toBe(false);
  expect(await answering(asked.url)).toBe('404');
  expect(await refusalOf(house.remote.listRevisions(asked.id, {}))).toMatchObject({ status: 404 });
  expect(await answering(kept.url)).toBe(kept.revisionId);
  expect(house.logged).toEqual([]);
});

test('requests in flight end by themselves, and those that do not are cut after a bound', async () => {
  const house = await openHouse(await openGround(), { cutAfterMs: 700 });
  const asked = await deploy(house);
  await goesLive(house, asked);
  const [quick, endless] = await Promise.all([askAgent(asked.url, '/slow'), askAgent(asked.url, '/endless')]);
  const cut = endless.text().then(
    () => 'ended',
    () => 'cut',
  );
  await house.control.deleteDeployment(asked.id);
  await until(async () => (await answering(asked.url)) !== asked.revisionId);
  expect(await house.control.getDeployment(asked.id)).toMatchObject({ status: 'AWAITING_DELETE' });
  expect(await quick.text()).toBe('begun done');
  expect(await cut).toBe('cut');
  await until(() => isGone(house, asked.id));
});

test('a build under way is killed, and leaves nothing', async () => {
  const ground = await openGround();
  const slow = gate(ground.root, 'slow');
  change(ground, slow.script);
  const house = await openHouse(ground);
  const building = await deploy(house, { config: { build_command: slow.command } });
  await until(slow.waits);
  const waiting = await revise(house, building.id, restate);
  await house.control.deleteDeployment(building.id);
  for (const id of [building.revisionId, waiting])
    expect(await house.control.getRevision(building.id, id)).toMatchObject({ status: 'INTERRUPTED' });
  await until(() => isGone(house, building.id));
  expect(builds(ground)).toEqual([]);
  expect(existsSync(slow.open)).toBe(false);
});

test('what stands in the way of a deletion is told, and it is tried again until it goes', async () => {
  const ground = await openGround();
  let isAway = true;
  const compute = processCompute({ clock: systemClock, agentServer: fakeAgent, drainMs: 0 });
  const remove = async (): Promise<void> => {
    if (isAway) throw new Error('The cluster is away.');
  };
  const house = await openHouse(ground, { lookEveryMs: 30, compute: { ...compute, remove } });
  const asked = await deploy(house);
  await goesLive(house, asked);
  await house.control.deleteDeployment(asked.id);
  const problem = 'It could not be deleted yet, and that is tried again: The cluster is away.';
  await until(async () => (await told(house, asked.id)) === problem);
  isAway = false;
  await until(() => isGone(house, asked.id));
  expect(house.logged.join()).toContain('could not be deleted');
});

const told = ({ control }: House, id: string): Promise<string | null | undefined> =>
  control.getDeployment(id).then(
    (deployment) => deployment.status_message,
    () => undefined,
  );

const left = z.array(z.object({ id: z.string(), agent: z.number() }));
const steps = ['asked', 'agents ended', 'nothing runs', 'database dropped', 'files removed'] as const;

test('after a kill -9 at each step of a deletion the next start goes on with it to its end', async () => {
  const ground = await openGround();
  const script = join(import.meta.dirname, 'killed-deletion.ts');
  const service = spawn(process.execPath, [script, JSON.stringify(ground), ...steps], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said = await new Promise<string>((resolve) => service.stdout.setEncoding('utf8').once('data', resolve));
  service.kill('SIGKILL');
  const deleting = left.parse(JSON.parse(said));
  const names = await Promise.all(deleting.map(({ id }) => databaseNamed(ground.databaseUrl, id)));
  await until(() => !deleting.some(({ agent }) => runs(agent)));

  const house = await openHouse(ground);
  for (const { id } of deleting) {
    await until(() => isGone(house, id));
  }
  for (const name of names) expect(await leftInPostgres(ground, name)).toEqual([]);
  expect(builds(ground)).toEqual([]);
  for (const step of steps) {
    const name = `held-${step.replaceAll(' ', '-')}`;
    expect(await house.store.findTracingProject(ground.tenantId, name)).toBeUndefined();
  }
  // The guards of the agents may be there a moment longer than these: the start ends them and says so.
  expect(house.logged.filter((line) => !/processes .* left behind were ended/.test(line))).toEqual([]);
});
