import { loggerTo } from '../../../logger.ts';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { runLocal } from '../../../../src/services/control/local-command.ts';
import { openEncryptedStore } from '../../../../src/services/control/encryption/open-encrypted-store.ts';
import { encryptionPlugin } from '../../../../src/services/control/encryption/encryption-plugin.ts';
import { controlMigrations, controlSchema } from '../../../../src/services/control/store/migrations.ts';
import { createStore } from '../../../../src/services/control/store/store.ts';
import type { ControlStore } from '../../../../src/services/control/store/store.ts';
import type { ControlTables } from '../../../../src/services/control/store/tables.ts';
import { openDatabase } from '../../../../src/kit/postgres/database.ts';
import type { Database } from '../../../../src/kit/postgres/database.ts';
import { migrate } from '../../../../src/kit/postgres/migrate.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { everyRow } from '../every-row.ts';
import { testCipher } from '../store/open-store.ts';
import { fromGit, openServiceFixture } from '../service-fixture.ts';

const atTheEnd: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of atTheEnd.splice(0).reverse()) await end();
});

let url: string;
let dataDir: string;
let database: Database<ControlTables>;
const logged: string[] = [];
beforeEach(async () => {
  const postgres = await startTestPostgres();
  atTheEnd.push(() => postgres.stop());
  url = postgres.url;
  dataDir = await mkdtemp(join(tmpdir(), 'landfall-sealed-'));
  atTheEnd.push(() => rm(dataDir, { recursive: true }));
  database = openDatabase<ControlTables>({ url });
  atTheEnd.push(() => database.close());
  await migrate(database.db, controlMigrations, { schema: controlSchema });
  logged.length = 0;
});

const start = (env: Record<string, string> = {}) =>
  openEncryptedStore(database.db, {
    env,
    dataDir,
    clock: systemClock,
    log: loggerTo((message) => logged.push(message)),
  });
const key = () => randomBytes(32).toString('base64');

async function make(store: ControlStore, count = 1) {
  const tenantId = await store.addTenant('one');
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1) {
    const made = await store.createDeployment(tenantId, {
      name: `agent-${number}`,
      source: 'github',
      source_config: {},
      source_revision_config: { repo_ref: 'main' },
      secrets: [{ name: 'MODEL_KEY', value: `canary-${number}` }],
      secret_references: null,
    });
    if (made.kind !== 'created') throw new Error(made.kind);
    ids.push(made.deployment.id);
  }
  return { tenantId, id: ids[0] ?? '' };
}
const dumped = async () => JSON.stringify(await everyRow(url));
const secretsOf = async (store: ControlStore, tenantId: string, id: string) => {
  const found = await store.findDeployment(tenantId, id);
  return [found?.deployment.secrets, found?.latest.secrets, found?.deployment.database_password];
};

test('the store returns clear values, and its tables contain none', async () => {
  const store = await start();
  const { tenantId, id } = await make(store);
  const [secrets, revisions, password] = await secretsOf(store, tenantId, id);
  expect([secrets, revisions]).toEqual([
    [{ name: 'MODEL_KEY', value: 'canary-0' }],
    [{ name: 'MODEL_KEY', value: 'canary-0' }],
  ]);
  expect(password).toMatch(/^[\w-]{32}$/);
  const tables = await dumped();
  expect(tables).not.toContain('canary');
  expect(tables).not.toContain(password);
  expect(tables.match(/sealed:v1:/g)).toHaveLength(3);
});

test('the next start encrypts clear values without visible changes', async () => {
  const clear = createStore(database.db, systemClock);
  const { tenantId, id } = await make(clear, 3);
  const before = await secretsOf(clear, tenantId, id);
  expect(await dumped()).toContain('canary-2');
  const store = await start();
  expect(await dumped()).not.toContain('canary');
  expect(await secretsOf(store, tenantId, id)).toEqual(before);
  expect(logged).toEqual([expect.stringMatching(/^9 secret values are encrypted with the key [0-9a-f]{16} now\.$/)]);
  await start();
  expect(logged).toHaveLength(1);
});

test('encrypts more rows than one statement updates', async () => {
  const clear = createStore(database.db, systemClock);
  const { tenantId } = await make(clear);
  await sql`
    insert into control.revisions (id, deployment_id, status, source, source_config, source_revision_config, secrets, created_at, updated_at)
    select gen_random_uuid(), deployment_id, 'SKIPPED', source, source_config, source_revision_config, secrets, created_at, updated_at
    from control.revisions, generate_series(1, 1200)`.execute(database.db);
  const store = await start();
  expect(await dumped()).not.toContain('canary');
  const [page] = await store.listDeployments(tenantId, {});
  const revisions = await store.listRevisions(page?.deployment.id ?? '', { limit: 1 });
  expect(revisions).toMatchObject([{ secrets: [{ value: 'canary-0' }] }]);
});

test('reports a wrong key at startup, before any change', async () => {
  await make(await start({ LANDFALL_SECRETS_KEY: key() }));
  const before = await dumped();
  for (const env of [{ LANDFALL_SECRETS_KEY: key() }, {}]) {
    await expect(start(env)).rejects.toThrow('The secrets were encrypted with another key');
  }
  expect(await dumped()).toBe(before);
});

test('re-encrypts everything with a new key, so that the former one can go', async () => {
  const [former, present] = [key(), key()];
  const first = await start({ LANDFALL_SECRETS_KEY: former });
  const { tenantId, id } = await make(first);
  const before = await secretsOf(first, tenantId, id);
  await start({ LANDFALL_SECRETS_KEY: present, LANDFALL_SECRETS_KEYS_OLD: former });
  const alone = await start({ LANDFALL_SECRETS_KEY: present });
  expect(await secretsOf(alone, tenantId, id)).toEqual(before);
  await expect(start({ LANDFALL_SECRETS_KEY: former })).rejects.toThrow('another key');
});

test('rejects an update by an SQL expression instead of storing clear text', async () => {
  const store = await start();
  const { id } = await make(store);
  const db = database.db.withPlugin(encryptionPlugin(testCipher)).withSchema(controlSchema);
  await expect(
    db
      .updateTable('deployments')
      .set({ secrets: sql<string>`'[]'::jsonb` })
      .where('id', '=', id)
      .execute(),
  ).rejects.toThrow('secrets is encrypted at rest');
});

describe('a service over HTTP', () => {
  test('stores and logs no value of a secret', async () => {
    const fixture = await openServiceFixture();
    try {
      const secret = (value: string) => [{ name: 'MODEL_KEY', value }];
      const { id, latest_revision_id } = await fixture.control.createDeployment(
        { ...fromGit(), secrets: secret('canary-one') },
        { idempotencyKey: 'a' },
      );
      await fixture.rollouts.settled();
      const changed = await fixture.control.patchDeployment(
        id,
        { secrets: secret('canary-two') },
        { idempotencyKey: 'b' },
      );
      await fixture.control.createRevision(id, { secrets: secret('canary-three') });
      await fixture.rollouts.settled();
      await fixture.control.redeployRevision(id, latest_revision_id ?? '', { idempotencyKey: 'c' });
      await fixture.control.createApiKey({ name: 'canary-name' }, { idempotencyKey: 'd' });
      expect(changed.secrets).toEqual(secret('canary-two'));
      expect((await fixture.control.getDeployment(id)).secrets).toEqual(secret('canary-one'));
      const rows = JSON.stringify(await everyRow(fixture.databaseUrl));
      expect(rows).toContain(id);
      expect(rows).not.toMatch(/canary-(one|two|three)/);
      expect(fixture.logged.join('\n')).not.toContain('canary');
    } finally {
      await fixture.close();
    }
  });
});

test('a service with a wrong key does not start, and says why', async () => {
  const output: string[] = [];
  const run = (LANDFALL_SECRETS_KEY: string) =>
    runLocal(['--port', '0', '--data', join(dataDir, 'data'), '--json'], {
      env: { DATABASE_URL: url, LANDFALL_SECRETS_KEY },
      say: () => undefined,
      printError: (line) => output.push(line),
      leave: Promise.resolve(),
    });
  const present = key();
  await make(await start({ LANDFALL_SECRETS_KEY: present }));
  expect(await run(key())).toBe(1);
  expect(output.join('\n')).toMatch(/^The services did not start: The secrets were encrypted with another key/m);
  expect(output.join('\n')).not.toContain('canary');
  expect(await run(present)).toBe(0);
});
