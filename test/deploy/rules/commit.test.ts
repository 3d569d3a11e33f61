import { describe, expect, test } from 'vitest';
import {
  determineCommit,
  isOtherCommit,
  otherCommitObstacles,
  pinnedCommit,
  type RequestedCommit,
  type UnknownCommit,
} from '../../../src/deploy/rules/commit.ts';
import type { Workflow } from '../../../src/deploy/file/workflow.ts';

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

  const known = (sha: string, more: object = {}): RequestedCommit => ({ kind: 'known', sha, ...more });
  const unknown = (because: UnknownCommit): RequestedCommit => ({ kind: 'unknown', because });
  const elsewhere = (ref: string) => unknown({ code: 'other-workflow', ref, repository: 'acme/agent' });
  const next = { ...push, ref: 'refs/heads/next' };
  const onlyOurs = { only: { isPinned: false, head: headSha } } as const;
  test.each<[RequestedCommit, Partial<Parameters<typeof determineCommit>[0]>]>([
    [known(sha), { workflow: push }],
    [known(headSha, { insteadOf: sha }), { workflow: push, head: headSha }],
    [known(sha, onlyOurs), { workflow: push, head: headSha, commit: sha }],
    [known(headSha), { workflow: pullRequest, repoRef: 'feature' }],
    [known(headSha), { head: headSha }],
    [elsewhere('refs/heads/next'), { workflow: next }],
    [elsewhere('feature'), { workflow: pullRequest }],
    [unknown({ code: 'no-workflow' }), {}],
    [unknown({ code: 'ref-unreported' }), { workflow: push, repoUrl: undefined }],
    [unknown({ code: 'ref-unreported' }), { head: headSha, repoRef: undefined }],
  ])('is known, or unknown with a reason: %j', (determined, change) => {
    const asked = { repoUrl: 'https://github.com/acme/agent', repoRef: 'main', workflow: undefined, head: undefined };
    expect(determineCommit({ ...asked, ...change })).toEqual(determined);
  });
});

describe('only one commit', () => {
  const only = (head: string | undefined) =>
    determineCommit({ repoUrl: 'https://github.com/acme/agent', repoRef: 'main', workflow: push, head, commit: sha });

  test.each<[string, string | undefined, object[]]>([
    ['is built where it is the head of the ref', sha, []],
    [
      'is refused where the ref has another head',
      headSha,
      [{ field: 'commit', code: 'other-commit', commit: sha, head: headSha }],
    ],
    [
      'is refused where the head is not known',
      undefined,
      [{ field: 'commit', code: 'other-commit', commit: sha, head: undefined }],
    ],
  ])('%s', (_, head, obstacles) => expect(otherCommitObstacles(only(head))).toEqual(obstacles));

  test('is built whatever the head is where the service is told its full SHA', () => {
    const asked = { repoUrl: undefined, repoRef: 'main', workflow: undefined, head: headSha, pinsCommits: true };
    const pinned = determineCommit({ ...asked, commit: sha });
    expect([otherCommitObstacles(pinned), pinnedCommit(pinned)]).toEqual([[], sha]);
    expect(pinnedCommit(determineCommit({ ...asked, commit: sha.slice(0, 12) }))).toBeUndefined();
  });

  test('any other is another, and none is where nothing was asked for', () => {
    expect(isOtherCommit(only(sha), headSha)).toBe(true);
    expect(isOtherCommit(only(sha), sha.slice(0, 7))).toBe(false);
    expect(isOtherCommit({ kind: 'known', sha }, headSha)).toBe(false);
  });
});
