import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readOperatorCommand } from '../../../src/control-service/keys/operator-command.ts';
import { githubFrom } from '../../../src/control-service/integrations/github-settings.ts';
import {
  cloneOrigin,
  isSameRepository,
  repositoryAt,
} from '../../../src/control-service/integrations/repository-address.ts';

describe('where repositories are cloned from', () => {
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
    ['a host that begins alike', 'https://github.com.example.com/acme/agent', undefined],
    ['an owner alone', 'https://github.com/acme', undefined],
    ['a page of it', 'https://github.com/acme/agent/tree/main', undefined],
    ['a folder', '/srv/git/agent', undefined],
    ['no name but an ending', 'https://github.com/acme/.git', undefined],
  ])('a repository, %s', (_, url, named) => {
    expect(repositoryAt('https://github.com', url)).toEqual(named);
  });

  test('names are the same in any case', () => {
    expect(isSameRepository({ owner: 'Acme', name: 'Agent' }, { owner: 'acme', name: 'agent' })).toBe(true);
    expect(isSameRepository({ owner: 'acme', name: 'agent' }, { owner: 'acme', name: 'agents' })).toBe(false);
  });
});

describe('which App it is', () => {
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
    ['the variables of the App', none, { APP_ID: '7', PRIVATE_KEY: pem }],
    ['a key in one line', none, { APP_ID: '7', PRIVATE_KEY: pem.replaceAll('\n', '\\n') }],
    ['a key in base64', none, { APP_ID: '7', PRIVATE_KEY: Buffer.from(pem).toString('base64') }],
    ['a path in a variable', none, { APP_ID: '7', PRIVATE_KEY_PATH: 'key.pem' }],
    ['a flag over a variable', { ...none, appId: '7' }, { APP_ID: '8', PRIVATE_KEY_PATH: 'key.pem' }],
    ['a file over a key in a variable', { ...none, keyFile: 'key.pem' }, { APP_ID: '7', PRIVATE_KEY: 'another' }],
  ])('by %s', (_, flags, env) => {
    const read = githubFrom(flags, env, readFile);
    expect(read).toMatchObject({ kind: 'app', app: { appId: 7, apiUrl: 'https://api.github.com' } });
    expect(read.kind === 'app' && read.app.privateKey.trim()).toBe(key);
  });

  test('another GitHub has its address', () => {
    const env = { APP_ID: '7', PRIVATE_KEY: pem, GITHUB_API_URL: 'https://github.example.com/api/v3/' };
    expect(githubFrom(none, env, readFile)).toMatchObject({ app: { apiUrl: 'https://github.example.com/api/v3' } });
  });

  test.each([
    ['nothing was said', {}],
    ['an id alone stands in the environment', { APP_ID: '7' }],
    ['a key of something else stands there', { PRIVATE_KEY: 'something' }],
  ])('there is none where %s', (_, env) => {
    expect(githubFrom(none, env, readFile)).toEqual({ kind: 'none' });
  });

  test.each([
    ['an id without a key', { ...none, appId: '7' }, {}, /--github-private-key-file/],
    ['an address alone', { ...none, apiUrl: 'https://github.example.com' }, {}, /--github-app-id/],
    ['an id that is none', { ...none, appId: 'seven', keyFile: 'key.pem' }, {}, /no number/],
    ['a file that is not there', { ...none, appId: '7', keyFile: 'gone.pem' }, {}, /can't be read/],
    ['a key that is none', none, { APP_ID: '7', PRIVATE_KEY: 'swordfish' }, /is none/],
    ['plain http to elsewhere', none, { APP_ID: '7', PRIVATE_KEY: pem, GITHUB_API_URL: 'http://host' }, /plain http/],
  ])('%s is told', (_, flags, env, said) => {
    const read = githubFrom(flags, env, readFile);
    expect(read.kind === 'problem' && read.problem).toMatch(said);
    expect(JSON.stringify(read)).not.toContain('swordfish');
  });
});

describe('what the operator says of integrations', () => {
  test.each([
    ['all are listed', 'integrations list', { kind: 'list integrations' }],
    [
      'one is bound',
      'integrations bind 11 --tenant acme',
      { kind: 'bind integration', installationId: 11, tenant: 'acme' },
    ],
    ['one is taken away', 'integrations unbind 11 --tenant acme', { kind: 'unbind integration', installationId: 11 }],
  ])('%s', (_, line, command) => {
    expect(readOperatorCommand(line.split(' '))).toMatchObject({ ok: true, command });
  });

  test.each([
    ['integrations bind acme --tenant acme', 'by its number'],
    ['integrations bind 11', 'takes one --tenant'],
    ['integrations bind 11 --tenant a --tenant b', 'takes one --tenant'],
    ['integrations remove 11', 'has no remove'],
  ])('%s is told', (line, said) => {
    expect(readOperatorCommand(line.split(' '))).toMatchObject({ ok: false, problem: expect.stringContaining(said) });
  });
});
