import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  readSettings,
  formatProblems,
  type ReadFile,
  type ReadSettings,
  mistypedVariables,
  readTextFile,
  variablesHere,
} from '../../../app/settings/read-settings.ts';
import { newPrivateKey } from './keys.ts';

const pem = newPrivateKey();
const pkcs8 = newPrivateKey('pkcs8');
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const secret = 'a-secret-of-our-own-0123456789';

const enough = {
  APP_ID: '12345',
  PRIVATE_KEY: pem,
  WEBHOOK_SECRET: secret,
  LANDFALL_BASE_URL: 'https://control.example/api-host/',
  LANDFALL_API_KEY: 'key-of-the-service',
};
const noFiles: ReadFile = (path) => ({ ok: false, why: `there is no ${path}` });
const read = (more: Record<string, string | undefined> = {}, readFile = noFiles): ReadSettings =>
  readSettings({ ...enough, ...more }, readFile);

function settingsOf(result: ReadSettings) {
  if (!result.ok) throw new Error(result.problems.map(({ variable, problem }) => `${variable} ${problem}`).join('; '));
  return result.settings;
}

test('what has to be set is enough, and the rest is as usual', () => {
  expect(settingsOf(read())).toEqual({
    github: { appId: 12345, privateKey: pem, webhookSecrets: [secret], apiUrl: 'https://api.github.com' },
    service: {
      baseUrl: 'https://control.example/api-host',
      apiKey: 'key-of-the-service',
      tenantId: undefined,
      spelling: 'auto',
    },
    builder: 'app',
    bindings: [],
    graderUrls: ['https://api.openai.com/v1'],
    previewSecrets: new Map(),
    publicUrl: undefined,
    databaseUrl: undefined,
    dataDir: '.landfall/app',
    host: '127.0.0.1',
    port: 3000,
    allowHttp: false,
  });
});

test('everything else can be set', () => {
  const all = {
    WEBHOOK_SECRET_PREVIOUS: 'the-secret-of-last-month',
    GITHUB_API_URL: 'https://github.example/api/v3/',
    LANDFALL_TENANT_ID: 'tenant',
    LANDFALL_FIELD_NAMES: 'public',
    LANDFALL_BUILDER: 'service',
    LANDFALL_BINDINGS: 'Acme/Agents=support-bot, acme/other = 0c1f\nacme/other=second\n',
    LANDFALL_GRADERS: 'https://models.example/v1/, http://127.0.0.1:11434/v1',
    LANDFALL_DATA: '/var/lib/app',
    PUBLIC_URL: 'https://app.example/',
    DATABASE_URL: 'postgres://u:p@h/d',
    HOST: '0.0.0.0',
    PORT: '0',
  };
  expect(settingsOf(read(all))).toMatchObject({
    github: { webhookSecrets: [secret, 'the-secret-of-last-month'], apiUrl: 'https://github.example/api/v3' },
    service: { tenantId: 'tenant', spelling: 'public' },
    builder: 'service',
    bindings: [
      { repository: 'acme/agents', deployment: 'support-bot' },
      { repository: 'acme/other', deployment: '0c1f' },
      { repository: 'acme/other', deployment: 'second' },
    ],
    graderUrls: ['https://models.example/v1', 'http://127.0.0.1:11434/v1'],
    dataDir: '/var/lib/app',
    publicUrl: 'https://app.example',
    databaseUrl: 'postgres://u:p@h/d',
    host: '0.0.0.0',
    port: 0,
  });
});

describe('the private key is taken', () => {
  test.each([
    ['as the file has it', pem, pem],
    ['in the newer form', pkcs8, pkcs8],
    ['with its line breaks written out', pem.trimEnd().replaceAll('\n', '\\n'), pem],
    ['with its line breaks lost', pem.replaceAll('\n', ' '), pem],
    ['with the line breaks of Windows', pem.replaceAll('\n', '\r\n'), pem],
    ['with Windows line breaks written out', pem.replaceAll('\n', '\\r\\n'), pem],
    ['with line breaks escaped twice', pem.replaceAll('\n', '\\\\n'), pem],
    ['in base64', Buffer.from(pem).toString('base64'), pem],
    [
      'in base64 with lines',
      (
        Buffer.from(pem)
          .toString('base64')
          .match(/.{1,76}/g) ?? []
      ).join('\n'),
      pem,
    ],
  ])('%s', (_, written, expected) => {
    expect(settingsOf(read({ PRIVATE_KEY: written })).github.privateKey).toBe(expected);
  });

  test('from the file that is named', () => {
    const file: ReadFile = (path) => (path === 'app.pem' ? { ok: true, text: pem } : noFiles(path));
    expect(settingsOf(read({ PRIVATE_KEY: '', PRIVATE_KEY_PATH: 'app.pem' }, file)).github.privateKey).toBe(pem);
  });
});

describe('an invalid variable is reported with its source', () => {
  test.each([
    ['the number of the App is missing', { APP_ID: undefined }, 'APP_ID is missing'],
    ['an empty one counts as missing', { APP_ID: ' ' }, 'APP_ID is missing'],
    ['the number of the App is its name', { APP_ID: 'landfall' }, 'APP_ID is a whole number'],
    ['there is no key', { PRIVATE_KEY: undefined }, 'PRIVATE_KEY is missing'],
    ['the key is something else', { PRIVATE_KEY: 'sk-123' }, 'PRIVATE_KEY is no private key'],
    ['the key lacks a part', { PRIVATE_KEY: pem.replace(/\n.*\n/, '\n') }, 'PRIVATE_KEY is damaged'],
    ['the key is of another kind', { PRIVATE_KEY: curve.toString() }, 'PRIVATE_KEY is damaged or no RSA key'],
    ["the key's file is gone", { PRIVATE_KEY: '', PRIVATE_KEY_PATH: 'no.pem' }, 'PRIVATE_KEY_PATH names no.pem, which'],
    ['there is no webhook secret', { WEBHOOK_SECRET: '' }, 'WEBHOOK_SECRET is missing'],
    ["it is Probot's own", { WEBHOOK_SECRET: 'development' }, 'WEBHOOK_SECRET is a secret that everybody knows'],
    ['it is short', { WEBHOOK_SECRET: 'fifteen-letters' }, 'WEBHOOK_SECRET has 15 characters; 16 are the least'],
    ['the former one is short', { WEBHOOK_SECRET_PREVIOUS: 'short' }, 'WEBHOOK_SECRET_PREVIOUS has 5 characters'],
    ['both are the same', { WEBHOOK_SECRET_PREVIOUS: secret }, 'WEBHOOK_SECRET_PREVIOUS holds the same'],
    ["GitHub's address is none", { GITHUB_API_URL: 'github' }, 'GITHUB_API_URL is no address'],
    ["GitHub's address is plain http", { GITHUB_API_URL: 'http://ghe.example/api/v3' }, 'GITHUB_API_URL is plain http'],
    ['there is no service', { LANDFALL_BASE_URL: undefined }, 'LANDFALL_BASE_URL is missing'],
    ['the service is plain http', { LANDFALL_BASE_URL: 'http://10.0.0.1' }, 'LANDFALL_BASE_URL is plain http'],
    ['the service has a password', { LANDFALL_BASE_URL: 'https://u:pw@h' }, 'LANDFALL_BASE_URL is no address'],
    ['there is no key of it', { LANDFALL_API_KEY: undefined }, 'LANDFALL_API_KEY is missing'],
    ['the key of it has a space', { LANDFALL_API_KEY: 'a b' }, 'LANDFALL_API_KEY holds a space'],
    ['the spelling is another', { LANDFALL_FIELD_NAMES: 'own' }, 'LANDFALL_FIELD_NAMES is one of'],
    ['the builder is unknown', { LANDFALL_BUILDER: 'me' }, 'LANDFALL_BUILDER is app or service'],
    ['a binding is half', { LANDFALL_BINDINGS: 'a/b=c,acme/agents' }, 'LANDFALL_BINDINGS has "acme/agents"'],
    ['a binding names no owner', { LANDFALL_BINDINGS: 'agents=c' }, 'LANDFALL_BINDINGS has "agents=c"'],
    ['the public address is none', { PUBLIC_URL: 'app.example' }, 'PUBLIC_URL is no address'],
    ['the public address is plain http', { PUBLIC_URL: 'http://app.example' }, 'PUBLIC_URL is plain http'],
    ['the database is another kind', { DATABASE_URL: 'mysql://u:pw@h/d' }, 'DATABASE_URL is no address of a Postgres'],
    ['the port is none', { PORT: '70000' }, 'PORT is a port from 0 to 65535'],
    ['a word is neither true nor false', { LANDFALL_ALLOW_HTTP: 'yes' }, 'LANDFALL_ALLOW_HTTP is true or false'],
  ])('%s', (_, more, reported) => {
    const result = read(more);
    expect(result).toMatchObject({ ok: false });
    const problems = result.ok ? [] : result.problems;
    expect(problems.map(({ variable, problem }) => `${variable} ${problem}`)).toEqual([
      expect.stringContaining(reported),
    ]);
    expect(problems.every(({ where }) => where.length > 20)).toBe(true);
  });
});

test.each([
  ['on this machine', { LANDFALL_BASE_URL: 'http://127.0.0.1:8420', GITHUB_API_URL: 'http://localhost:4000' }],
  ['where it was allowed', { LANDFALL_BASE_URL: 'http://control:8420', LANDFALL_ALLOW_HTTP: 'true' }],
])('plain http is taken %s', (_, more) => {
  expect(read(more)).toMatchObject({ ok: true });
});

test('without settings lists every variable, its source, and how to start a service', () => {
  const result = readSettings({}, noFiles);
  if (result.ok) throw new Error('nothing was missing');
  expect(result.problems.map(({ variable }) => variable)).toEqual([
    'APP_ID',
    'PRIVATE_KEY',
    'WEBHOOK_SECRET',
    'LANDFALL_BASE_URL',
    'LANDFALL_API_KEY',
  ]);
  const reported = formatProblems(result.problems, result.hasNoService);
  expect(reported).toContain('5 variables are missing or wrong');
  expect(reported).toContain('  APP_ID is missing.\n      GitHub: Settings, Developer settings, GitHub Apps');
  expect(reported).toContain('openssl rand -hex 32');
  expect(reported).toMatch(/No control service is named\.[\s\S]*npm run local/);
});

test('with a service named it does not say how to start one', () => {
  const result = read({ APP_ID: undefined });
  if (result.ok) throw new Error('nothing was missing');
  const reported = formatProblems(result.problems, result.hasNoService);
  expect(reported).toContain('one variable is missing or wrong');
  expect(reported).not.toContain('npm run local');
});

test('no secret is in the report', () => {
  const wrong = {
    PRIVATE_KEY: pem.slice(0, 400),
    WEBHOOK_SECRET: 'short-secret',
    LANDFALL_API_KEY: 'secret key',
    LANDFALL_BASE_URL: 'https://user:hidden-word@host',
    DATABASE_URL: 'http://user:hidden-word@host',
  };
  const result = read(wrong);
  const reported = result.ok ? '' : formatProblems(result.problems, result.hasNoService);
  expect(reported).toContain('5 variables are missing or wrong');
  for (const word of ['short-secret', 'secret key', 'hidden-word', pem.slice(60, 100)])
    expect(reported).not.toContain(word);
});

describe('the file .env', () => {
  function folder(text: string): string {
    const path = mkdtempSync(join(tmpdir(), 'landfall-env-'));
    onTestFinished(() => rmSync(path, { recursive: true }));
    writeFileSync(join(path, '.env'), text);
    return path;
  }

  test('is read, and the environment wins where it says something', () => {
    const here = folder(`APP_ID=1\nPORT=4000\n# a comment\nPRIVATE_KEY="${pem.replaceAll('\n', '\\n')}"\nHOST=filed\n`);
    const variables = variablesHere(here, { APP_ID: '2', PORT: '', PATH: '/bin' });
    expect(variables).toMatchObject({ APP_ID: '2', PORT: '4000', HOST: 'filed', PATH: '/bin' });
    expect(settingsOf(readSettings({ ...enough, ...variables }, noFiles)).github.privateKey).toBe(pem);
  });

  test('may be absent', () => {
    expect(variablesHere(tmpdir(), { APP_ID: '2' })).toEqual({ APP_ID: '2' });
  });
});

test('reads a key from a real file, and reports a missing one', () => {
  const path = mkdtempSync(join(tmpdir(), 'landfall-key-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  writeFileSync(join(path, 'app.pem'), pem);
  expect(readTextFile(join(path, 'app.pem'))).toEqual({ ok: true, text: pem });
  expect(readTextFile(join(path, 'other.pem'))).toMatchObject({ ok: false, why: expect.stringContaining('ENOENT') });
});

test.each([
  ['LANDFALL_API_KYE', ['LANDFALL_API_KYE is no setting of the App; did you mean LANDFALL_API_KEY?']],
  ['WEBHOOK_SECRETS', ['WEBHOOK_SECRETS is no setting of the App; did you mean WEBHOOK_SECRET?']],
  ['LANDFALL_SOMETHING_QUITE_ELSE', []],
  ['HOSTNAME', []],
])('%s is looked at as a slip of the finger', (name, reported) => {
  expect(mistypedVariables({ [name]: 'x' })).toEqual(reported);
});
