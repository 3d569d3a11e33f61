import { silentLogger } from '../../../../src/kit/logger.ts';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from 'pg';
import { systemClock } from '../../../../src/kit/clock.ts';
import { removeIsolated } from '../../../../src/services/control/isolation/isolation.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { databaseNamed } from '../databases-of.ts';
import { dropAgentDatabase } from '../../../../src/kit/postgres/databases.ts';
import { startTestPostgres, type TestPostgres } from '../../../kit/postgres/postgres.ts';
import { temporaryFolder } from '../builds/repositories.ts';
import { standIn, type StandIn } from '../compute/container/stand-in.ts';
import { httpControl } from '../http-control.ts';
import { fromImage } from '../service-fixture.ts';

const undo: (() => void)[] = [];
let postgres: TestPostgres;
let services: LocalServices;
let engine: StandIn;
let dataDir: string;

beforeAll(async () => {
  dataDir = join(temporaryFolder(undo), 'data');
  engine = standIn();
  undo.push(() => engine.remove());
  postgres = await startTestPostgres();
  services = await startLocal({
    port: 0,
    dataDir,
    databaseUrl: postgres.url,
    allowGit: [],
    clock: systemClock,
    log: silentLogger,
    env: engine.env,
    running: { engine: engine.command },
  });
});

afterAll(async () => {
  const { resources } = await services.control.listDeployments({ limit: 100 });
  await services.close();
  for (const { id } of resources) await dropAgentDatabase(postgres.adminUrl, await databaseNamed(postgres.url, id));
  await postgres.stop();
  await removeIsolated(dataDir);
  for (const remove of undo) remove();
});

const tool = (text: string) => ({ image: 'tool', args: ['-c', text] });

describe('an image, over HTTP', () => {
  const send = () => httpControl(services.url, services.apiKey);

  /** Deploys the image with a resource_spec, and returns how its containers were created. */
  async function live(name: string, resource_spec: object) {
    const control = send();
    const { id, url, latest_revision_id } = await control.createDeployment({
      ...fromImage({
        source_config: { resource_spec },
        source_revision_config: { image_uri: 'registry.test/agent:1.2' },
      }),
      name,
      secrets: [{ name: 'FAKE_SAY', value: 'the main one' }],
    });
    const revisionId = latest_revision_id ?? '';
    const revision = () => control.getRevision(id, revisionId);
    await expect
      .poll(async () => (await revision()).status, { timeout: 120_000, interval: 25 })
      .toMatch(/^(DEPLOYED|.*FAILED)$/);
    expect(await revision()).toMatchObject({ status: 'DEPLOYED' });
    const made = engine
      .calls()
      .map(({ args }) => args)
      .filter((args) => args[0] === 'create' && args.includes(`--label=landfall.deployment=${id}`));
    const { logs } = await control.deployLogs(id, revisionId, { limit: 100 });
    return {
      id,
      url: url ?? '',
      revisionId,
      made,
      main: made.find((args) => args.includes('registry.test/agent:1.2')) ?? [],
      lines: logs.map(({ message }) => message),
    };
  }
  const valueOf = (args: readonly string[], flag: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${flag}=`))?.slice(flag.length + 3);

  test(
    'runs, serves at the address of its deployment, and is removed with it',
    { meta: { claims: ['control.service.source-image'] } },
    async () => {
      const { id, url, revisionId } = await live('runs', {});
      const answer = await fetch(`${url}/ok`, { headers: { 'x-api-key': services.apiKey } });
      expect([answer.status, await answer.json()]).toEqual([200, { ok: true, revision: revisionId }]);
      await send().deleteDeployment(id);
      await expect
        .poll(() =>
          engine
            .calls()
            .some(({ args }) => args[0] === 'ps' && args.includes(`--filter=label=landfall.deployment=${id}`)),
        )
        .toBe(true);
      await expect
        .poll(async () => (await fetch(`${url}/ok`, { headers: { 'x-api-key': services.apiKey } })).status)
        .toBe(404);
    },
  );

  test(
    'gets the requested CPU, memory and labels',
    {
      meta: {
        claims: [
          'control.resource-spec.cpu-in-cores',
          'control.resource-spec.cpu-request',
          'control.resource-spec.memory-in-mb',
          'control.resource-spec.memory-mb-request',
          'control.resource-spec.labels-applied',
        ],
      },
    },
    async () => {
      const { main } = await live('amounts', {
        cpu: 0.5,
        cpu_limit: 1.5,
        memory_mb: 256,
        memory_limit_mb: 384,
        labels: { team: 'agents' },
      });
      expect({
        shares: valueOf(main, 'cpu-shares'),
        cpus: valueOf(main, 'cpus'),
        reservation: valueOf(main, 'memory-reservation'),
        memory: valueOf(main, 'memory'),
      }).toEqual({ shares: '512', cpus: '1.5', reservation: '256000000b', memory: '384000000b' });
      expect(main).toContain('--label=team=agents');
    },
  );

  test(
    'may use twice its request without a limit',
    { meta: { claims: ['control.resource-spec.cpu-limit-default', 'control.resource-spec.memory-limit-mb-default'] } },
    async () => {
      const { main } = await live('defaults', { cpu: 0.3, memory_mb: 200 });
      expect([valueOf(main, 'cpus'), valueOf(main, 'memory')]).toEqual(['0.6', '400000000b']);
    },
  );

  test(
    'runs after its init containers and beside its sidecars',
    {
      meta: {
        claims: ['control.resource-spec.init-containers-run-first', 'control.resource-spec.sidecars-run-alongside'],
      },
    },
    async () => {
      const { lines, main, made } = await live('pod', {
        init_containers: [{ name: 'prepare', ...tool('sleep 0.3; echo prepared') }],
        sidecars: [{ name: 'proxy', ...tool('echo beside; sleep 60') }],
      });
      expect(lines.indexOf('[prepare] prepared')).toBeGreaterThan(-1);
      // Its only word is a secret.
      expect(lines.indexOf('***')).toBeGreaterThan(lines.indexOf('[prepare] prepared'));
      expect(made).toHaveLength(3);
      expect(valueOf(made.at(-1) ?? [], 'network')).toBe(`container:${valueOf(main, 'name')}`);
    },
  );

  test(
    'ignores the fields that are not for use',
    { meta: { claims: ['control.resource-spec.orchestrator-unused', 'control.resource-spec.executor-unused'] } },
    async () => {
      const unused = {
        orchestrator_cpu: 8,
        orchestrator_memory_mb: 9,
        orchestrator_min_scale: 3,
        executor_cpu: 4,
        executor_memory_mb: 5,
      };
      const [plain, more] = [await live('plain', {}), await live('unused', unused)];
      const flags = (args: readonly string[]) => args.filter((arg) => !/^--(name|label)=/.test(arg));
      expect(flags(more.main)).toEqual(flags(plain.main));
      expect(more.lines).toContain(`${Object.keys(unused).join(', ')}: the document marks these as not to be used.`);
    },
  );

  test(
    'gets the requested number of database connections',
    { meta: { claims: ['control.resource-spec.db-max-connections-limit'] } },
    async () => {
      const { id } = await live('connections', { db_max_connections: 7 });
      const client = new Client({ connectionString: postgres.adminUrl });
      await client.connect();
      const { rows } = await client.query<{ rolconnlimit: number }>(
        'select rolconnlimit from pg_roles where rolname = $1',
        [(await databaseNamed(postgres.url, id)).role],
      );
      await client.end();
      expect(rows).toEqual([{ rolconnlimit: 7 }]);
    },
  );
});
