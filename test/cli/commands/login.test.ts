import { Command } from 'commander';
import { statSync, writeFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loginPath, readLogins, writeLogins, type Logins } from '../../../src/cli/logins/login-file.ts';
import { useLogin } from '../../../src/cli/logins/use-login.ts';
import { folderOf } from '../run-cli.ts';

const logins: Logins = {
  current: 'local',
  services: {
    local: { base_url: 'http://127.0.0.1:8420', api_key: 'key-local' },
    team: { base_url: 'https://team.test/api', api_key: 'key-team', tenant_id: 'tenant-team' },
  },
};

function ownFolder(): { XDG_CONFIG_HOME: string } {
  const { path, remove } = folderOf({});
  onTestFinished(remove);
  return { XDG_CONFIG_HOME: path };
}

/** The address, the key and the workspace of a command with these arguments and variables. */
async function usedBy(args: readonly string[], variables: Record<string, string> = {}): Promise<unknown[]> {
  const folder = ownFolder();
  await writeLogins(logins, folder);
  const command = new Command('list').exitOverride().configureOutput({ writeErr: () => undefined });
  command.option('--service <name>').option('--base-url <url>').option('--api-key <key>').option('--tenant-id <id>');
  command.action(() => undefined).parse([...args], { from: 'user' });
  for (const [attribute, value] of Object.entries(variables)) {
    if (command.getOptionValue(attribute) === undefined) command.setOptionValueWithSource(attribute, value, 'env');
  }
  useLogin(command, folder);
  return ['baseUrl', 'apiKey', 'tenantId'].map((attribute) => command.getOptionValue(attribute));
}

describe('a command uses', () => {
  test.each([
    ['the current login', [], {}, ['http://127.0.0.1:8420', 'key-local', undefined]],
    ['the named login', ['--service', 'team'], {}, ['https://team.test/api', 'key-team', 'tenant-team']],
    [
      'the login of its address',
      ['--base-url', 'https://team.test/api/'],
      {},
      ['https://team.test/api/', 'key-team', 'tenant-team'],
    ],
    [
      'no login for another address',
      ['--base-url', 'https://other.test'],
      {},
      ['https://other.test', undefined, undefined],
    ],
    ['its own key before a stored one', ['--api-key', 'mine'], {}, ['http://127.0.0.1:8420', 'mine', undefined]],
    [
      'the key of the current login at its address, and none of a variable',
      [],
      { apiKey: 'env', tenantId: 't' },
      ['http://127.0.0.1:8420', 'key-local', undefined],
    ],
    [
      'a variable before a stored login',
      [],
      { baseUrl: 'https://other.test', apiKey: 'env' },
      ['https://other.test', 'env', undefined],
    ],
    [
      'a named login before a variable',
      ['--service', 'local'],
      { baseUrl: 'https://other.test', apiKey: 'env', tenantId: 't' },
      ['http://127.0.0.1:8420', 'key-local', undefined],
    ],
  ])('%s', async (_, args, variables, used) => {
    expect(await usedBy(args, variables)).toEqual(used);
  });

  test.each([
    ['an unknown service', ['--service', 'taem'], 'Did you mean team?'],
    ['two services', ['--service', 'team', '--base-url', 'https://other.test'], 'name two services'],
  ])('nothing where it names %s', async (_, args, said) => {
    await expect(usedBy(args)).rejects.toThrow(said);
  });
});

describe('the file of the logins', () => {
  test('is readable by its owner only', async () => {
    const folder = ownFolder();
    await writeLogins(logins, folder);
    expect(statSync(loginPath(folder)).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(loginPath(folder))).mode & 0o077).toBe(0);
    expect(readLogins(folder)).toEqual({ ok: true, logins });
  });

  test('is empty where there is none', () => {
    expect(readLogins(ownFolder())).toEqual({ ok: true, logins: { current: null, services: {} } });
  });

  test('is reported where it holds something else', () => {
    const folder = ownFolder();
    mkdirSync(dirname(loginPath(folder)), { recursive: true });
    writeFileSync(loginPath(folder), '{');
    expect(readLogins(folder)).toMatchObject({ ok: false, problem: expect.stringContaining('does not hold logins') });
  });
});
