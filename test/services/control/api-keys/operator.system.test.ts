import { silentLogger } from '../../../../src/kit/logger.ts';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock } from '../../../../src/kit/clock.ts';
import { readApiKey } from '../../../../src/services/control/api-keys/api-key.ts';
import { readOperatorCommand } from '../../../../src/services/control/api-keys/operator-command.ts';
import { runLocal } from '../../../../src/services/control/local-command.ts';
import { startLocal } from '../../../../src/services/control/local.ts';
import type { LocalServices } from '../../../../src/services/control/local.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';

describe('the command line', () => {
  const common = { data: '.landfall', json: false };
  test.each([
    ['a tenant', ['tenants', 'add', 'shop'], { kind: 'add tenant', name: 'shop' }],
    ['all tenants', ['tenants', 'list', '--json'], { kind: 'list tenants', json: true }],
    ['a key', ['keys', 'add', '--tenant', 'shop', '--name', 'ci'], { kind: 'add key', name: 'ci', tenants: ['shop'] }],
    [
      "an organisation's key",
      ['keys', 'add', '--tenant', 'shop', '--tenant', 'bank', '--name', 'ci'],
      { kind: 'add key', name: 'ci', tenants: ['shop', 'bank'] },
    ],
    [
      'a key with fewer rights',
      [
        'keys',
        'add',
        '--tenant',
        'shop',
        '--name',
        'ci',
        '--scope',
        'deploy',
        '--scope',
        'agent',
        '--expires-in-days',
        '90',
      ],
      { kind: 'add key', name: 'ci', tenants: ['shop'], scopes: ['deploy', 'agent'], expiresInDays: 90 },
    ],
    ['all keys', ['keys', 'list', '--data', 'd'], { kind: 'list keys', tenant: undefined, data: 'd' }],
    ['revoking a key', ['keys', 'revoke', '0123456789abcdef'], { kind: 'revoke key', id: '0123456789abcdef' }],
    [
      'revoking a key by its full text',
      ['keys', 'revoke', `lf_0123456789abcdef_${'a'.repeat(43)}`],
      { kind: 'revoke key', id: '0123456789abcdef' },
    ],
    ['help', ['keys', '--help'], { kind: 'help' }],
  ])('%s', (_, args, read) => {
    expect(readOperatorCommand(args)).toEqual({ ok: true, command: { ...common, ...read } });
  });

  test.each([
    ['a tenant without a name', ['tenants', 'add'], 'Name the tenant'],
    ['a tenant with an empty name', ['tenants', 'add', ' '], 'Name the tenant'],
    ['a key without a tenant', ['keys', 'add', '--name', 'ci'], '--tenant and --name'],
    ['a key without a name', ['keys', 'add', '--tenant', 'shop'], '--tenant and --name'],
    [
      'an unknown scope',
      ['keys', 'add', '--tenant', 'a', '--name', 'ci', '--scope', 'write'],
      '--scope is one of read',
    ],
    ['a key for no day', ['keys', 'add', '--tenant', 'a', '--name', 'ci', '--expires-in-days', '0'], 'number of days'],
    ['a name of two lines', ['keys', 'add', '--tenant', 'a', '--name', 'a\nb'], '--name is one line'],
    ['revoking without a key', ['keys', 'revoke'], 'Name the key'],
    ['another verb', ['keys', 'drop'], 'keys has no drop'],
    ['a verb with a typo', ['keys', 'revok'], 'keys has no revok; did you mean revoke?'],
    ['no verb', ['tenants'], 'tenants has no command'],
    ['an extra word', ['tenants', 'add', 'a', 'b'], 'Unexpected argument b'],
    ['an unknown option', ['keys', 'list', '--jsn'], 'Unknown option --jsn; did you mean --json?'],
    ['a data folder without a name', ['keys', 'list', '--data', ''], '--data is empty'],
  ])('rejects %s', (_, args, words) => {
    expect(readOperatorCommand(args)).toMatchObject({ ok: false, problem: expect.stringContaining(words) });
  });
});

const id = z.object({ id: z.string() });
const madeKey = z.object({ id: z.string(), key: z.string(), tenant_ids: z.array(z.string()) });
const listed = z.array(z.looseObject({ id: z.string(), name: z.string() }));

/** Runs one of the operator's commands and parses its output. */
async function operate(env: Record<string, string>, data: string, ...args: string[]) {
  const [said, output]: [string[], string[]] = [[], []];
  const code = await runLocal([...args, '--data', data, '--json'], {
    env,
    say: (text) => said.push(text),
    printError: (text) => output.push(text),
    leave: new Promise(() => undefined),
  });
  const value: unknown = said.length === 0 ? undefined : JSON.parse(said.join('\n'));
  return { code, value, output: output.join('\n') };
}

const statusOf = async ({ url }: LocalServices, headers: Record<string, string>): Promise<number> =>
  (await fetch(`${url}/v2/deployments`, { headers })).status;

const ending: (() => unknown)[] = [];
let root: string;
let services: LocalServices | undefined;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'landfall-operator-'));
  // As root, the database server runs as another user, who needs access.
  chmodSync(root, 0o711);
  ending.push(() => rmSync(root, { recursive: true, force: true }));
});
afterEach(async () => {
  await services?.close();
  services = undefined;
});
afterAll(async () => {
  for (const end of ending.reverse()) await end();
});

async function startOn(dataDir: string, databaseUrl: string | undefined): Promise<LocalServices> {
  services = await startLocal({
    port: 0,
    dataDir,
    databaseUrl,
    allowGit: [],
    clock: systemClock,
    log: silentLogger,
  });
  return services;
}

describe('an installation', () => {
  let data: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    data = join(root, 'data');
    const postgres = await startTestPostgres();
    ending.push(() => postgres.stop());
    env = { DATABASE_URL: postgres.url };
  });
  const start = () => startOn(data, env['DATABASE_URL']);

  test('is reported missing before its service has run', async () => {
    const { code, output } = await operate(env, data, 'tenants', 'list');
    expect([code, output]).toEqual([1, expect.stringContaining('landfall local')]);
  });

  test('gets tenants and keys while its service runs, effective on the next request', async () => {
    const running = await start();
    const shop = id.parse((await operate(env, data, 'tenants', 'add', 'shop')).value).id;
    const again = await operate(env, data, 'tenants', 'add', 'shop');
    expect([again.code, again.output]).toEqual([1, expect.stringContaining('already')]);
    const own = madeKey.parse((await operate(env, data, 'keys', 'add', '--tenant', 'shop', '--name', 'ci')).value);
    const wide = madeKey.parse(
      (await operate(env, data, 'keys', 'add', '--tenant', shop, '--tenant', 'local', '--name', 'org')).value,
    );
    expect([own.tenant_ids, wide.tenant_ids]).toEqual([[shop], [shop, running.tenantId]]);
    expect(await statusOf(running, { 'x-api-key': own.key })).toBe(200);
    expect(await statusOf(running, { 'x-api-key': wide.key })).toBe(403);
    expect(await statusOf(running, { 'x-api-key': wide.key, 'x-tenant-id': running.tenantId })).toBe(200);
    await operate(env, data, 'keys', 'revoke', own.id);
    expect(await statusOf(running, { 'x-api-key': own.key })).toBe(401);
    expect((await operate(env, data, 'keys', 'revoke', own.id)).code).toBe(1);
    const output = await fetch(`${running.url}/v1/audit`, { headers: { 'x-api-key': wide.key, 'x-tenant-id': shop } });
    expect(await output.json()).toMatchObject({
      resources: [
        { actor: 'operator', operation: 'revoke api key' },
        { operation: 'create api key', subject: { api_key_id: wide.id } },
        { operation: 'create api key', subject: { api_key_id: own.id } },
        { operation: 'add tenant', subject: { tenant_name: 'shop' } },
      ],
    });
  });

  test('gets tenants and keys while its service does not run', async () => {
    const bank = id.parse((await operate(env, data, 'tenants', 'add', 'bank')).value).id;
    const rights = ['--scope', 'read', '--expires-in-days', '1'];
    const { key } = madeKey.parse(
      (await operate(env, data, 'keys', 'add', '--tenant', 'bank', '--name', 'ci', ...rights)).value,
    );
    const names = listed.parse((await operate(env, data, 'tenants', 'list')).value).map(({ name }) => name);
    expect(names).toEqual(['local', 'shop', 'bank']);
    const keys = listed.parse((await operate(env, data, 'keys', 'list', '--tenant', bank)).value);
    expect(keys).toMatchObject([{ id: readApiKey(key)?.id, name: 'ci', scopes: ['read'] }]);
    expect(await statusOf(await start(), { 'x-api-key': key })).toBe(200);
  });

  test('gets a new key of its own after a revocation', async () => {
    const first = await start();
    const { apiKey, tenantId } = first;
    await first.close();
    const ended = await operate(env, data, 'keys', 'revoke', apiKey);
    expect(ended.code).toBe(0);
    expect(await readdir(data)).not.toContain('api-key');
    const running = await start();
    expect([running.tenantId, running.apiKey === apiKey]).toEqual([tenantId, false]);
    expect(await statusOf(running, { 'x-api-key': apiKey })).toBe(401);
  });

  test('rejects an unknown tenant', async () => {
    const { code, output } = await operate(env, data, 'keys', 'add', '--tenant', 'unknown', '--name', 'ci');
    expect([code, output]).toEqual([1, expect.stringContaining('There is no tenant unknown')]);
  });
});

test('an embedded Postgres is reached whether its service runs or not', async () => {
  const data = join(root, 'embedded');
  const missing = await operate({}, data, 'tenants', 'list');
  expect([missing.code, missing.output]).toEqual([1, expect.stringContaining(`There is no database in ${data}`)]);
  const running = await startOn(data, undefined);
  const add = ['keys', 'add', '--tenant', 'local', '--name', 'ci'];
  const one = madeKey.parse((await operate({}, data, ...add)).value);
  expect(await statusOf(running, { 'x-api-key': one.key })).toBe(200);
  await running.close();
  const two = madeKey.parse((await operate({}, data, ...add)).value);
  const later = await startOn(data, undefined);
  expect(await statusOf(later, { 'x-api-key': two.key })).toBe(200);
});
