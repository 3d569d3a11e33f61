import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readOperatorCommand } from '../../../../src/services/control/api-keys/operator-command.ts';
import { readGithubSettings } from '../../../../src/services/control/integrations/github-settings.ts';
import {
  cloneOrigin,
  isSameRepository,
  repositoryAt,
} from '../../../../src/services/control/integrations/github-app.ts';

describe('repository URLs', () => {
  test.each([
    ['https://api.github.com', 'https://github.com'],
    ['https://github.example.com/api/v3', 'https://github.example.com'],
    ['https://api.team.ghe.com', 'https://team.ghe.com'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
  ])('the API %s has its repositories at %s', (api, origin) => {
    expect(cloneOrigin(api)).toBe(origin);
  });

  test.each([
    ['its page', 'https://github.com/acme/agent', { owner: 'acme', name: 'agent' }],
    ['with .git', 'https://github.com/acme/agent.git', { owner: 'acme', name: 'agent' }],
    ['with a slash', 'https://github.com/acme/agent/', { owner: 'acme', name: 'agent' }],
    ['on another host', 'https://gitlab.com/acme/agent', undefined],
    ['over plain http', 'http://github.com/acme/agent', undefined],
    ['on another port', 'https://github.com:8443/acme/agent', undefined],
    ['a host with the same prefix', 'https://github.com.example.com/acme/agent', undefined],
    ['an owner alone', 'https://github.com/acme', undefined],
    ['a page inside it', 'https://github.com/acme/agent/tree/main', undefined],
    ['a folder', '/srv/git/agent', undefined],
    ['an empty name', 'https://github.com/acme/.git', undefined],
  ])('parses a repository: %s', (_, url, named) => {
    expect(repositoryAt('https://github.com', url)).toEqual(named);
  });

  test('names are case-insensitive', () => {
    expect(isSameRepository({ owner: 'Acme', name: 'Agent' }, { owner: 'acme', name: 'agent' })).toBe(true);
    expect(isSameRepository({ owner: 'acme', name: 'agent' }, { owner: 'acme', name: 'agents' })).toBe(false);
  });
});

describe("the App's configuration", () => {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const none = { appId: undefined, keyFile: undefined, apiUrl: undefined };
  const readFile = (path: string): string => {
    if (path === 'key.pem') return pem;
    throw new Error('no such file');
  };
  const key = pem.trim();

  test.each([
    ['flags', { ...none, appId: '7', keyFile: 'key.pem' }, {}],
    ['environment variables', none, { APP_ID: '7', PRIVATE_KEY: pem }],
    ['a key on one line', none, { APP_ID: '7', PRIVATE_KEY: pem.replaceAll('\n', '\\n') }],
    ['a key with Windows line breaks written out', none, { APP_ID: '7', PRIVATE_KEY: pem.replaceAll('\n', '\\r\\n') }],
    ['a key whose line breaks are lost', none, { APP_ID: '7', PRIVATE_KEY: pem.replaceAll('\n', ' ') }],
    ['a key in base64', none, { APP_ID: '7', PRIVATE_KEY: Buffer.from(pem).toString('base64') }],
    ['a path in a variable', none, { APP_ID: '7', PRIVATE_KEY_PATH: 'key.pem' }],
    ['a flag over a variable', { ...none, appId: '7' }, { APP_ID: '8', PRIVATE_KEY_PATH: 'key.pem' }],
    ['a file over a key in a variable', { ...none, keyFile: 'key.pem' }, { APP_ID: '7', PRIVATE_KEY: 'another' }],
  ])('is read from %s', (_, flags, env) => {
    const read = readGithubSettings(flags, env, readFile);
    expect(read).toMatchObject({ kind: 'app', app: { appId: 7, apiUrl: 'https://api.github.com' } });
    expect(read.kind === 'app' && read.app.privateKey.trim()).toBe(key);
  });

  test('GitHub Enterprise has its own URL', () => {
    const env = { APP_ID: '7', PRIVATE_KEY: pem, GITHUB_API_URL: 'https://github.example.com/api/v3/' };
    expect(readGithubSettings(none, env, readFile)).toMatchObject({
      app: { apiUrl: 'https://github.example.com/api/v3' },
    });
  });

  test.each([
    ['nothing is set', {}],
    ['only an id is in the environment', { APP_ID: '7' }],
    ["another program's key is in the environment", { PRIVATE_KEY: 'something' }],
  ])('is absent when %s', (_, env) => {
    expect(readGithubSettings(none, env, readFile)).toEqual({ kind: 'none' });
  });

  test.each([
    ['an id without a key', { ...none, appId: '7' }, {}, /--github-private-key-file/],
    ['only a URL', { ...none, apiUrl: 'https://github.example.com' }, {}, /--github-app-id/],
    ['an invalid id', { ...none, appId: 'seven', keyFile: 'key.pem' }, {}, /no number/],
    ['a missing file', { ...none, appId: '7', keyFile: 'gone.pem' }, {}, /can't be read/],
    ['an invalid key', none, { APP_ID: '7', PRIVATE_KEY: 'swordfish' }, /is invalid/],
    [
      'plain http to another host',
      none,
      { APP_ID: '7', PRIVATE_KEY: pem, GITHUB_API_URL: 'http://host' },
      /plain http/,
    ],
  ])('reports %s', (_, flags, env, said) => {
    const read = readGithubSettings(flags, env, readFile);
    expect(read.kind === 'problem' && read.problem).toMatch(said);
    expect(JSON.stringify(read)).not.toContain('swordfish');
  });
});

describe("the operator's integration commands", () => {
  test.each([
    ['list', 'integrations list', { kind: 'list integrations' }],
    ['bind', 'integrations bind 11 --tenant acme', { kind: 'bind integration', installationId: 11, tenant: 'acme' }],
    ['unbind', 'integrations unbind 11 --tenant acme', { kind: 'unbind integration', installationId: 11 }],
  ])('%s', (_, line, command) => {
    expect(readOperatorCommand(line.split(' '))).toMatchObject({ ok: true, command });
  });

  test.each([
    ['integrations bind acme --tenant acme', 'by its number'],
    ['integrations bind 11', 'takes one --tenant'],
    ['integrations bind 11 --tenant a --tenant b', 'takes one --tenant'],
    ['integrations remove 11', 'has no remove'],
  ])('rejects %s', (line, said) => {
    expect(readOperatorCommand(line.split(' '))).toMatchObject({ ok: false, problem: expect.stringContaining(said) });
  });
});
