import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { headOf, type Git } from '../../src/host/git-head.ts';

const requested = { repoUrl: 'https://github.com/acme/agents', repoRef: 'main' };
const [one, two] = ['1'.repeat(40), '2'.repeat(40)];

/** A git with canned output for its arguments. */
const gitThat =
  (answers: Record<string, string | undefined>): Git =>
  async (args) =>
    answers[args[0] ?? ''];

const checkout = { 'rev-parse': '/home/me/agents\n', remote: 'git@github.com:acme/agents.git\n' };

describe('the head of a ref', () => {
  test.each([
    ['no checkout', {}, 'no git checkout'],
    [
      'a checkout of another repository',
      { ...checkout, remote: 'https://github.com/acme/other' },
      'another repository',
    ],
    ['a checkout without an origin', { 'rev-parse': '/home/me/agents' }, 'another repository'],
    ['a repository that does not answer', checkout, 'could not ask'],
  ])('is unknown with %s', async (_, answers, why) => {
    expect(await headOf(requested, gitThat(answers))).toEqual({ kind: 'unknown', why: expect.stringContaining(why) });
  });

  test('is absent if the repository has no such branch, and suggests a similar one', async () => {
    const listed: Git = async (args) =>
      args[0] === 'ls-remote' && args.includes('--heads') ? `${one}\trefs/heads/main\n` : gitThat(answers)(args);
    const answers = { ...checkout, 'ls-remote': '' };
    const head = await headOf({ ...requested, repoRef: 'mai' }, listed);
    expect(head).toEqual({ kind: 'absent', ref: 'refs/heads/mai', near: 'main' });
    expect(await headOf(requested, gitThat(answers))).toEqual({ kind: 'absent', ref: 'refs/heads/main' });
  });

  test('is read from the repository, for any spelling of its address', async () => {
    const git = gitThat({ ...checkout, 'ls-remote': `${one}\trefs/heads/main\n` });
    expect(await headOf(requested, git)).toEqual({ kind: 'known', sha: one });
  });

  test('of an annotated tag is the tagged commit', async () => {
    const git = gitThat({ ...checkout, 'ls-remote': `${one}\trefs/tags/v1\n${two}\trefs/tags/v1^{}\n` });
    expect(await headOf({ ...requested, repoRef: 'refs/tags/v1' }, git)).toEqual({ kind: 'known', sha: two });
  });

  test('contacts only the origin of this checkout', async () => {
    const calls: (readonly string[])[] = [];
    const git: Git = async (args) => {
      calls.push(args);
      return gitThat({ ...checkout, 'ls-remote': '' })(args);
    };
    await headOf(requested, git);
    expect(calls.filter(([command]) => command === 'ls-remote')).toEqual([
      ['ls-remote', '--quiet', 'origin', 'refs/heads/main', 'refs/heads/main^{}'],
      ['ls-remote', '--quiet', '--heads', 'origin'],
    ]);
  });
});

describe('with a real repository', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-git-')));
  const run = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@localhost', '-C', folder, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    });
  const git: Git = async (args) => run(...args);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('a folder that is deployed itself has its own branch, not the checked-out one', async () => {
    run('init', '--quiet', '--initial-branch=main');
    run('commit', '--quiet', '--allow-empty', '--message=one');
    const head = run('rev-parse', 'HEAD').trim();
    run('checkout', '--quiet', '-b', 'topic');
    run('commit', '--quiet', '--allow-empty', '--message=two');
    const noOrigin: Git = async (args) => (args[0] === 'remote' ? undefined : git(args));
    expect(await headOf({ repoUrl: `file://${folder}`, repoRef: 'main' }, noOrigin)).toEqual({
      kind: 'known',
      sha: head,
    });
  });
});
