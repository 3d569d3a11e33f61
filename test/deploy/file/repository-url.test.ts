import { describe, expect, test } from 'vitest';
import {
  isRepositoryNamed,
  sameRepository,
  shownRepository,
  webAddressOf,
} from '../../../src/deploy/file/repository-url.ts';

describe('spellings of a repository', () => {
  const plain = 'https://github.com/acme/agent';
  test.each([
    'https://github.com/acme/agent.git',
    'https://github.com/acme/agent/',
    'https://github.com/acme/agent.git/',
    'http://GitHub.com/Acme/Agent',
    'https://user:word@github.com/acme/agent',
    'https://github.com:443/acme/agent',
    'git@github.com:acme/agent.git',
    'github.com:acme/agent',
    'ssh://git@github.com/acme/agent.git',
    'ssh://git@github.com:2222/acme/agent',
    'git://github.com/acme/agent',
    ' https://github.com/acme/agent ',
    'git+ssh://git@github.com/acme/agent',
    'git+https://github.com/acme/agent.git',
    'https://github.com//acme/agent.GIT//',
    'git@github.com:/acme/agent',
    ' git@github.com:acme/agent ',
  ])('%s is the same', (other) => expect(sameRepository(plain, other)).toBe(true));

  test.each([
    'https://github.com/acme/agents',
    'https://github.com/acme',
    'https://gitlab.com/acme/agent',
    'https://github.com:8443/acme/agent',
    '/github.com/acme/agent',
    'ftp://github.com/acme/agent',
    'git@github.com:acme/agents',
    'file:///acme/agent',
    'acme/agent',
    '',
  ])('%s is another', (other) => expect(sameRepository(plain, other)).toBe(false));

  test.each([
    ['/srv/git/acme/agent', 'file:///srv/git/acme/agent', true],
    ['/srv/git/acme/agent.git', 'file:///srv/git/acme/agent', true],
    ['/srv/with space/agent', 'file:///srv/with%20space/agent', true],
    ['/srv/100%/agent', '/srv/100%/agent/', true],
    ['C:\\git\\agent', 'file:///C:/git/agent', true],
    ['srv/agent', '/srv/agent', true],
    ['/srv/a?b#c', '/srv/a?b#d', false],
    ['/srv/a?b', '/srv/a%3Fb', false],
    ['/srv/agent.git', '/srv/agent.github', false],
    ['/srv/agent.github', '/srv/agenthub', false],
    ['/srv/git/agent', '/srv/git/Agent', false],
    ['file:///srv/git/agent', 'file:///srv/git/Agent', false],
    ['a:b', 'A:b', false],
  ])('of folders: %s and %s', (one, other, same) => expect(sameRepository(one, other)).toBe(same));

  test.each([
    ['https://ghe.acme.com/Acme/Agent.git', true],
    ['git@github.com:acme/agent', true],
    ['https://github.com/big-acme/agent', false],
    ['https://github.com/acme/agent/more', false],
  ])('%s is named acme/agent on its host: %s', (address, named) =>
    expect(isRepositoryNamed(address, 'Acme', 'agent')).toBe(named),
  );

  test('a password in the address is never shown', () => {
    expect(shownRepository('https://user:word@github.com/acme/agent')).toBe('https://github.com/acme/agent');
    expect(shownRepository('https://user:wo@rd@github.com/acme/agent')).toBe('https://github.com/acme/agent');
    expect(shownRepository('https://github.com/acme/agent?by=a@b')).toBe('https://github.com/acme/agent?by=a@b');
    expect(shownRepository('git@github.com:acme/agent.git')).toBe('git@github.com:acme/agent.git');
    expect(shownRepository('GIT+SSH://git@github.com/acme/a@b')).toBe('GIT+SSH://github.com/acme/a@b');
  });
});

describe('the web address of a remote', () => {
  test.each([
    ['https://github.com/acme/agents', 'https://github.com/acme/agents'],
    ['https://ada:secret@github.com/acme/agents.git/', 'https://github.com/acme/agents'],
    ['http://git.test:8080/acme/agents', 'http://git.test:8080/acme/agents'],
    ['git@gitlab.com:acme/agents.git', 'https://gitlab.com/acme/agents'],
    ['gitlab.com:group/sub/agents', 'https://gitlab.com/group/sub/agents'],
    ['ssh://git@gitlab.com:2222/acme/agents.git', 'https://gitlab.com/acme/agents'],
    ['git+ssh://git@gitlab.com/acme/agents', 'https://gitlab.com/acme/agents'],
    ['/srv/git/agents', undefined],
    ['file:///srv/git/agents', undefined],
    ['C:\\git\\agents', undefined],
    ['https://github.com/', undefined],
    ['agents', undefined],
    ['', undefined],
  ])('%s', (remote, address) => expect(webAddressOf(remote)).toBe(address));
});
