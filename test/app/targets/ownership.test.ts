import { describe, expect, test } from 'vitest';
import type { Binding } from '../../../app/settings/environment.ts';
import { createOwnership, webHostOf } from '../../../app/targets/ownership.ts';

const acme = { owner: 'acme', name: 'agents' };
const ownership = createOwnership('github.com', []);
const local = createOwnership('127.0.0.1:4000', []);

describe('an address is the own one of acme/agents', () => {
  test.each([
    'https://github.com/acme/agents',
    'https://github.com/acme/agents.git',
    'https://github.com/acme/agents/',
    'https://GitHub.com/Acme/Agents',
    'https://someone@github.com/acme/agents.git',
    'http://github.com/acme/agents',
    'git@github.com:acme/agents.git',
    'github.com:acme/agents',
    'ssh://git@github.com/acme/agents',
    'ssh://git@github.com:22/acme/agents.git',
    'git://github.com/acme/agents.git',
    ' https://github.com/acme/agents ',
  ])('%s', (address) => expect(ownership.isOwn(acme, address)).toBe(true));

  test.each([
    'http://127.0.0.1:4000/acme/agents.git',
    'https://127.0.0.1:4000/acme/agents',
    'git@127.0.0.1:acme/agents.git',
    'ssh://git@127.0.0.1:2222/acme/agents.git',
  ])('of another GitHub: %s', (address) => expect(local.isOwn(acme, address)).toBe(true));
});

describe('an address is not the own one of acme/agents', () => {
  test.each([
    ['another repository', 'https://github.com/acme/web'],
    ['another owner', 'https://github.com/evil/agents'],
    ['a name that ends alike', 'https://github.com/acme/my-agents'],
    ['a name that begins alike', 'https://github.com/acme/agents2'],
    ['an owner that ends alike', 'https://github.com/not-acme/agents'],
    ['a path that ends alike', 'https://github.com/evil/acme/agents'],
    ['a path that goes on', 'https://github.com/acme/agents/tree/main'],
    ['a host that ends alike', 'https://notgithub.com/acme/agents'],
    ['a host that begins alike', 'https://github.com.evil.example/acme/agents'],
    ['a host below', 'https://x.github.com/acme/agents'],
    ['a user that looks like the host', 'https://github.com@evil.example/acme/agents'],
    ['a user that looks like all of it', 'https://github.com%2Facme%2Fagents@evil.example/acme/agents'],
    ['a path that looks like the host', 'https://evil.example/github.com/acme/agents'],
    ['a query', 'https://evil.example/?https://github.com/acme/agents'],
    ['a fragment', 'https://evil.example/#https://github.com/acme/agents'],
    ['a slash that is spelled out', 'https://github.com/acme%2Fagents'],
    ['a folder on the machine', '/github.com/acme/agents'],
    ['a folder on the machine, by its address', 'file:///github.com/acme/agents'],
    ['another scheme', 'javascript://github.com/acme/agents'],
    ['a letter of another alphabet', 'https://github.com/acme/аgents'],
    ['one that becomes ours when it is made small', 'git@github.com:acme/agent\u017F'],
    ['the sign of a unit', 'git@github.com:ac\u212Ae/agents'],
    ['a full-width name', 'git@github.com:ａcme/agents'],
    ['a full-width host', 'https://ｇithub.com/acme/agents'],
    ['a space within', 'https://github.com/acme/ agents'],
    ['a name with a bracket of text turned round', 'https://github.com/acme/agents\u202E'],
    ['a repository whose name ends in .git', 'https://github.com/acme/agents.git.git'],
    ['the port of something else', 'https://github.com:8443/acme/agents'],
    ['nothing', ''],
  ])('%s: %s', (_, address) => expect(ownership.isOwn(acme, address)).toBe(false));

  test.each(['http://127.0.0.1/acme/agents', 'http://127.0.0.1:4001/acme/agents', 'https://github.com/acme/agents'])(
    'of another GitHub: %s',
    (address) => expect(local.isOwn(acme, address)).toBe(false),
  );

  test('a kelvin sign is no k, on either side', () => {
    const book = { owner: 'acme', name: 'book' };
    expect(ownership.isOwn(book, 'git@github.com:acme/boo\u212A')).toBe(false);
    expect(ownership.isOwn({ owner: 'acme', name: 'boo\u212A' }, 'git@github.com:acme/book')).toBe(false);
  });
});

describe('a repository may act on a deployment of another address', () => {
  const deployment = { id: '00000000-0000-4000-8000-00000000000A', name: 'support', source_config: {} };
  const refusal = (...bindings: Binding[]) => createOwnership('github.com', bindings).refusal(acme, deployment);

  test.each<[string, Binding]>([
    ['bound by its name', { repository: 'acme/agents', deployment: 'support' }],
    ['bound by its id', { repository: 'acme/agents', deployment: deployment.id }],
    ['in whichever letters', { repository: 'Acme/AGENTS', deployment: deployment.id.toLowerCase() }],
  ])('that is %s', (_, binding) => expect(refusal(binding)).toBeUndefined());

  test.each<[string, Binding]>([
    ['to another repository', { repository: 'acme/web', deployment: 'support' }],
    ['to another deployment', { repository: 'acme/agents', deployment: 'billing' }],
    ['in other letters', { repository: 'acme/agents', deployment: 'Support' }],
    ['in part', { repository: 'acme/agents', deployment: 'supp' }],
    ['to everything, which no binding says', { repository: 'acme/agents', deployment: '*' }],
  ])('but not where it is bound %s', (_, binding) => expect(refusal(binding)).toContain('acme/agents='));

  test('and its owner is not shown', () => {
    const secret = { ...deployment, source_config: { repo_url: 'https://github.com/secret-club/plans' } };
    expect(ownership.refusal(acme, secret)).not.toContain('secret-club');
  });
});

describe('where the repositories of a GitHub are reached', () => {
  test.each([
    ['https://api.github.com', 'github.com'],
    ['https://api.github.com/', 'github.com'],
    ['https://github.acme.example/api/v3', 'github.acme.example'],
    ['https://api.acme.ghe.com', 'acme.ghe.com'],
    ['http://127.0.0.1:4000', '127.0.0.1:4000'],
    ['https://api.acme.example', 'api.acme.example'],
  ])('%s: %s', (apiUrl, host) => expect(webHostOf(apiUrl)).toBe(host));
});
