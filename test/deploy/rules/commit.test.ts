import { describe, expect, test } from 'vitest';
import {
  determineCommit,
  isOtherCommit,
  otherCommitObstacles,
  sameCommit,
  shortCommit,
  type Workflow,
} from '../../../src/deploy/rules/commit.ts';
import { isRepositoryNamed, sameRepository, shownRepository } from '../../../src/deploy/rules/repository-url.ts';

const sha = 'a'.repeat(40);
const headSha = 'b'.repeat(40);
const push: Workflow = {
  repository: 'acme/agent',
  serverUrl: 'https://github.com',
  ref: 'refs/heads/main',
  sha,
};
const pullRequest: Workflow = {
  ...push,
  ref: 'refs/pull/7/merge',
  headRef: 'feature',
  headSha,
  headRepository: 'acme/agent',
};

describe('the requested commit', () => {
  test.each<[string, Partial<Parameters<typeof determineCommit>[0]>, string | undefined]>([
    ['a push to the deployed branch: its commit', { workflow: push }, sha],
    ['a push to another branch: unknown', { workflow: { ...push, ref: 'refs/heads/next' } }, undefined],
    ['a push to another repository: unknown', { workflow: { ...push, repository: 'acme/other' } }, undefined],
    [
      'a repository of the same name on another host: unknown',
      { workflow: { ...push, serverUrl: 'https://ghe.acme.com' } },
      undefined,
    ],
    ['the deployed tag: its commit', { workflow: { ...push, ref: 'refs/tags/v1' }, repoRef: 'refs/tags/v1' }, sha],
    ['a tag named like the deployed branch: unknown', { workflow: { ...push, ref: 'refs/tags/main' } }, undefined],
    [
      'a pull request from the deployed branch: its head, not the merge',
      { workflow: pullRequest, repoRef: 'feature' },
      headSha,
    ],
    ['a pull request into the deployed branch: unknown', { workflow: pullRequest }, undefined],
    [
      'a fork with a branch of the same name: unknown',
      { workflow: { ...pullRequest, headRef: 'main', headRepository: 'mallory/agent' } },
      undefined,
    ],
    [
      'a pull request that does not say where its head lies: unknown',
      { workflow: { ...push, ref: 'refs/pull/7/merge', headRef: 'main', headSha } },
      undefined,
    ],
    [
      'a pull request without the commit of its head: unknown',
      { workflow: { ...push, ref: 'refs/pull/7/merge', headRef: 'main', headRepository: 'acme/agent' } },
      undefined,
    ],
    [
      'a server whose address ends in a slash: its commit',
      { workflow: { ...push, serverUrl: 'https://github.com/' } },
      sha,
    ],
    [
      'another branch with a known head: the head',
      { workflow: { ...push, ref: 'refs/heads/x' }, head: headSha },
      headSha,
    ],
    [
      'the deployed branch of a rerun, and its head was looked up: the head, which is built',
      { workflow: push, head: headSha },
      headSha,
    ],
    ['no workflow at all: unknown', { workflow: undefined }, undefined],
    ['a service that does not report its repository: unknown', { workflow: push, repoUrl: undefined }, undefined],
    ['the repository spelled for ssh: its commit', { workflow: push, repoUrl: 'git@github.com:Acme/Agent.git' }, sha],
  ])('%s', (_, change, wanted) => {
    const known = determineCommit({
      repoUrl: 'https://github.com/acme/agent',
      repoRef: 'main',
      workflow: undefined,
      head: undefined,
      ...change,
    });
    expect(known.kind).toBe(wanted === undefined ? 'unknown' : 'known');
    expect(known.kind === 'known' ? known.sha : undefined).toBe(wanted);
  });

  const elsewhere = { ...push, ref: 'refs/heads/next' };
  test.each<[string, Partial<Parameters<typeof determineCommit>[0]>]>([
    ['this workflow', { workflow: push }],
    ['the head of main', { workflow: push, head: headSha }],
    ['the input commit', { workflow: push, head: headSha, commit: sha }],
    ['this workflow', { workflow: pullRequest, repoRef: 'feature' }],
    ['the head of main', { head: headSha }],
    ['this workflow runs on refs/heads/next of acme/agent, which is not what is deployed', { workflow: elsewhere }],
    ['this workflow runs on feature of acme/agent, which is not what is deployed', { workflow: pullRequest }],
    ['no workflow says which commit it runs on', {}],
    ['the service does not report which repository and ref it builds', { workflow: push, repoUrl: undefined }],
    ['the service does not report which repository and ref it builds', { head: headSha, repoRef: undefined }],
  ])('is known, or unknown, with a reason: %s', (reason, change) => {
    const known = determineCommit({
      repoUrl: 'https://github.com/acme/agent',
      repoRef: 'main',
      workflow: undefined,
      head: undefined,
      ...change,
    });
    expect(known.kind === 'known' ? known.from : known.why).toBe(reason);
  });
});

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

test.each([
  ['the same', sha, sha, true],
  ['in capitals', sha, sha.toUpperCase(), true],
  ['abbreviated', sha, sha.slice(0, 7), true],
  ['abbreviated to fewer than 7 characters', sha, sha.slice(0, 6), false],
  ['abbreviated, compared with the whole', sha.slice(0, 7), sha, true],
  ['the end of another', 'a'.repeat(7), `${'b'.repeat(33)}${'a'.repeat(7)}`, false],
  ['an abbreviation of another', 'b'.repeat(7), sha, false],
  ['another', sha, headSha, false],
  ['null', sha, null, false],
  ['empty', '', sha, false],
  ['undefined', undefined, undefined, false],
])('one commit? %s', (_, one, other, same) => expect(sameCommit(one, other)).toBe(same));

test('a commit is shown by its first seven characters', () => expect(shortCommit(sha)).toBe('aaaaaaa'));

describe('only one commit', () => {
  const only = (head: string | undefined) =>
    determineCommit({ repoUrl: 'https://github.com/acme/agent', repoRef: 'main', workflow: push, head, commit: sha });

  test.each<[string, string | undefined, object[]]>([
    ['is built where it is the head of the ref', sha, []],
    [
      'is refused where the ref has another head',
      headSha,
      [{ field: 'commit', problem: expect.stringContaining('the head of the ref, which is bbbbbbb') }],
    ],
    [
      'is refused where the head is not known',
      undefined,
      [{ field: 'commit', problem: expect.stringContaining('not known here whether it is the head of the ref') }],
    ],
  ])('%s', (_, head, obstacles) => expect(otherCommitObstacles(only(head))).toMatchObject(obstacles));

  test('any other is another, and none is where nothing was asked for', () => {
    expect(isOtherCommit(only(sha), headSha)).toBe(true);
    expect(isOtherCommit(only(sha), sha.slice(0, 7))).toBe(false);
    expect(isOtherCommit({ kind: 'known', sha, from: 'this workflow' }, headSha)).toBe(false);
  });
});
