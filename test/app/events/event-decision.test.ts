import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideEvent } from '../../../app/events/event-decision.ts';
import { formatDecision } from '../../../app/events/handle-event.ts';
import { examplesOf } from './examples.ts';
import { commentPayload } from '../commands/commenting.ts';
import { place } from './handler-fixture.ts';

const sha = 'a'.repeat(40);
const none = '0'.repeat(40);
const pushed = { ref: 'refs/heads/main', before: 'b'.repeat(40), after: sha };
const run = { name: 'Landfall: support', head_sha: sha, external_id: 'ours', check_suite: { head_branch: 'main' } };
const suite = { head_sha: sha, head_branch: 'main' };
const pull = (repoId: number | undefined) => ({
  number: 7,
  pull_request: { head: { sha, repo: repoId === undefined ? null : { id: repoId } }, base: { ref: 'main' } },
});
const inSame = { number: 7, head: { sha, repo: { id: 22 } }, base: { ref: 'main', repo: { id: 22 } } };
const requested = (action: string, extra: object = {}) => ({ action, check_run: run, ...extra });

const decide = (name: string, payload: object) => decideEvent(name, { ...place, ...payload });

/** Pull requests of forks' own repositories, which GitHub names where their head is a branch of this one. */
const ofForks = Array.from({ length: 150 }, (_, n) => ({
  ...inSame,
  number: 100 + n,
  base: { ref: 'main', repo: { id: 1000 + n } },
}));

describe('a re-run of a branch that many forks pull from', () => {
  test.each([
    ['the check', 'check_run', { check_run: { ...run, pull_requests: [...ofForks, inSame] } }, [7]],
    ['all checks', 'check_suite', { check_suite: { ...suite, pull_requests: [...ofForks, inSame] } }, [7]],
    ['all checks, without a list', 'check_suite', { check_suite: { ...suite, pull_requests: null } }, []],
  ])('is of its own pull requests: %s', (_, name, payload, numbers) => {
    const decision = decide(name, { action: 'rerequested', ...payload });
    expect(decision.kind === 'rerun' ? decision.pullRequests.map(({ number }) => number) : decision).toEqual(numbers);
  });
});

describe('decides', () => {
  test.each<[string, string, object, string]>([
    ['a push to a branch', 'push', pushed, 'push of aaaaaaa to main of acme/agents: the branch was pushed'],
    [
      'a branch with a slash',
      'push',
      { ...pushed, ref: 'refs/heads/feature/x' },
      'push of aaaaaaa to feature/x of acme/agents: the branch was pushed',
    ],
    [
      'a branch that is new',
      'push',
      { ...pushed, before: none, created: true },
      'push of aaaaaaa to main of acme/agents: the branch was made with a push',
    ],
    [
      'a forced push',
      'push',
      { ...pushed, forced: true },
      'push of aaaaaaa to main of acme/agents: the branch was pushed with force',
    ],
    [
      'a push that deletes a branch',
      'push',
      { ...pushed, after: none, deleted: true },
      'end of main of acme/agents: it deletes the branch, so there is nothing to build',
    ],
    [
      'a push that deletes and does not say so',
      'push',
      { ...pushed, after: none },
      'end of main of acme/agents: it deletes the branch, so there is nothing to build',
    ],
    [
      'a push that deletes a tag',
      'push',
      { ...pushed, ref: 'refs/tags/v1', after: none, deleted: true },
      'ignored: it pushes a tag, and tags are not built on push',
    ],
    [
      'a pushed tag',
      'push',
      { ...pushed, ref: 'refs/tags/v1' },
      'ignored: it pushes a tag, and tags are not built on push',
    ],
    [
      'a push to a fork that has the App',
      'push',
      { ...pushed, repository: { ...place.repository, fork: true } },
      'nothing to build of aaaaaaa of acme/agents: the repository is a fork, and branches of forks are not built',
    ],
    [
      'a push without an installation',
      'push',
      { ...pushed, installation: undefined },
      'ignored: it names no installation of the App, so no action is possible',
    ],
    [
      'a push whose commit is none',
      'push',
      { ...pushed, after: 'HEAD' },
      'ignored: its payload cannot be read: after: it is no commit',
    ],
    [
      'a push of a repository with an unsafe name',
      'push',
      { ...pushed, repository: { id: 22, full_name: 'acme/agents/../x' } },
      'ignored: its payload cannot be read: repository.full_name: it is no owner/name',
    ],
    [
      'a deleted branch',
      'delete',
      { ref: 'main', ref_type: 'branch' },
      'end of main of acme/agents: the branch was deleted',
    ],
    [
      'a deleted tag',
      'delete',
      { ref: 'v1', ref_type: 'tag' },
      'ignored: a tag was deleted, and tags are not built on push',
    ],
    [
      'Re-run of one check',
      'check_run',
      requested('rerequested'),
      're-run of "Landfall: support" at aaaaaaa on main of acme/agents by octocat: a person re-requested this check',
    ],
    [
      'Re-run of all checks',
      'check_suite',
      { action: 'rerequested', check_suite: suite },
      're-run of all checks at aaaaaaa on main of acme/agents by octocat: a person re-requested all checks of the commit',
    ],
    [
      'the checks of a commit',
      'check_suite',
      { action: 'requested', check_suite: suite },
      'checks of aaaaaaa on main of acme/agents: GitHub expects the checks of the commit',
    ],
    [
      'the checks of a commit on no branch',
      'check_suite',
      { action: 'requested', check_suite: { ...suite, head_branch: null } },
      'checks of aaaaaaa of acme/agents: GitHub expects the checks of the commit',
    ],
    [
      'a suite that ended',
      'check_suite',
      { action: 'completed', check_suite: suite },
      'a change of the checks of aaaaaaa of acme/agents: a check suite of the commit has ended',
    ],
    [
      'a completed check of another App',
      'check_run',
      requested('completed'),
      'a change of the checks of aaaaaaa of acme/agents: a check of the commit has ended',
    ],
    [
      'Rollback',
      'check_run',
      requested('requested_action', { requested_action: { identifier: 'rollback' } }),
      'rollback on "Landfall: support" at aaaaaaa of acme/agents by octocat: a person requested Rollback',
    ],
    [
      'Redeploy',
      'check_run',
      requested('requested_action', { requested_action: { identifier: 'redeploy' } }),
      'redeploy on "Landfall: support" at aaaaaaa of acme/agents by octocat: a person requested Redeploy',
    ],
    [
      'Promote',
      'check_run',
      requested('requested_action', { requested_action: { identifier: 'promote' } }),
      'promote on "Landfall: support" at aaaaaaa of acme/agents by octocat: a person requested Promote',
    ],
    [
      'a button that is none of ours',
      'check_run',
      requested('requested_action', { requested_action: { identifier: 'format_disk' } }),
      'ignored: the button is not one of ours',
    ],
    [
      'an unknown button',
      'check_run',
      requested('requested_action'),
      'ignored: its payload cannot be read: requested_action: Invalid input: expected object, received undefined',
    ],
    [
      'a pull request',
      'pull_request',
      { action: 'opened', ...pull(22) },
      'pull request 7 into main at aaaaaaa of acme/agents: a pull request was opened',
    ],
    [
      'a pull request from a fork',
      'pull_request',
      { action: 'synchronize', ...pull(33) },
      'pull request 7 from a fork into main at aaaaaaa of acme/agents: a pull request has a new head',
    ],
    [
      'a pull request from a fork that is gone',
      'pull_request',
      { action: 'reopened', ...pull(undefined) },
      'pull request 7 from a fork into main at aaaaaaa of acme/agents: a pull request was opened again',
    ],
    [
      'a pull request with another base',
      'pull_request',
      { action: 'edited', ...pull(22), changes: { base: { ref: { from: 'next' } } } },
      'pull request 7 into main at aaaaaaa of acme/agents: a pull request goes to another branch',
    ],
    [
      'a pull request with another title',
      'pull_request',
      { action: 'edited', ...pull(22), changes: { title: { from: 'x' } } },
      'ignored: only words of the pull request were changed',
    ],
    [
      'a closed pull request',
      'pull_request',
      { action: 'closed', ...pull(22) },
      'preview of pull request 7 of acme/agents: a pull request was closed',
    ],
    [
      'a label of a pull request',
      'pull_request',
      { action: 'unlabeled', number: 7 },
      'preview of pull request 7 of acme/agents: a pull request lost a label',
    ],
    [
      'an assigned pull request',
      'pull_request',
      { action: 'assigned', ...pull(22) },
      'ignored: it changes neither the head nor the base of a pull request',
    ],
    [
      'a merge group',
      'merge_group',
      { action: 'checks_requested', merge_group: { head_sha: sha, base_ref: 'refs/heads/main' } },
      'merge group into main at aaaaaaa of acme/agents: a merge group waits for its checks',
    ],
    [
      'a merge group that is gone',
      'merge_group',
      { action: 'destroyed', merge_group: { head_sha: sha, base_ref: 'refs/heads/main' } },
      'ignored: only a merge group that waits for checks needs one',
    ],
    [
      'an installation',
      'installation',
      { action: 'created', repositories: [place.repository] },
      'installation 11 added, acme/agents: the App was installed',
    ],
    [
      'an installation that ends',
      'installation',
      { action: 'deleted', repositories: [place.repository] },
      'installation 11 removed, all repositories: the App was uninstalled',
    ],
    [
      'a suspended installation',
      'installation',
      { action: 'suspend' },
      'installation 11 suspended, all repositories: the installation was suspended',
    ],
    [
      'one that is resumed',
      'installation',
      { action: 'unsuspend' },
      'installation 11 resumed, all repositories: the installation was resumed',
    ],
    [
      'more repositories',
      'installation_repositories',
      { action: 'added', repositories_added: [place.repository] },
      'installation 11 added, acme/agents: the App was added to repositories',
    ],
    [
      'fewer repositories',
      'installation_repositories',
      { action: 'removed', repositories_removed: [place.repository] },
      'installation 11 removed, acme/agents: the App was removed from repositories',
    ],
    [
      'other repositories, of which none is named',
      'installation_repositories',
      { action: 'added' },
      'ignored: it names no repository',
    ],
    [
      'a new name',
      'repository',
      { action: 'renamed' },
      'repository 22 is acme/agents now: the repository has a new name',
    ],
    [
      'a new owner',
      'repository',
      { action: 'transferred' },
      'repository 22 is acme/agents now: the repository has a new owner',
    ],
    [
      'a repository that is gone',
      'repository',
      { action: 'deleted' },
      'installation 11 removed, acme/agents: the repository was deleted',
    ],
    [
      'an archived repository',
      'repository',
      { action: 'archived' },
      'installation 11 removed, acme/agents: the repository was archived, so nothing can be reported there any more',
    ],
    [
      'a comment',
      'issue_comment',
      commentPayload('/deploy support', 600, 0),
      '/deploy on pull request 7 of acme/agents by octocat: a person gave a command',
    ],
    [
      'a mistyped command',
      'issue_comment',
      commentPayload('/deplyo', 600, 0),
      'a mistyped command on pull request 7 of acme/agents by octocat: a person gave a command',
    ],
    [
      'a comment that says something else',
      'issue_comment',
      commentPayload('Nice!', 600, 0),
      'ignored: the comment is not a command',
    ],
    [
      'an event that is newer than this App',
      'teleport',
      {},
      'ignored: Landfall does nothing about events of this name',
    ],
  ])('%s', (_, name, payload, words) => {
    expect(formatDecision(decide(name, payload))).toBe(words);
  });

  test('a check names the pull requests whose head it is, and no others', () => {
    const others = [
      { ...inSame, number: 8, head: { ...inSame.head, sha: 'c'.repeat(40) } },
      { ...inSame, number: 9, base: { ref: 'main', repo: { id: 99 } } },
    ];
    const repository = { installationId: 11, repositoryId: 22, owner: 'acme', name: 'agents' };
    expect(
      decide('check_run', requested('rerequested', { check_run: { ...run, pull_requests: [inSame, ...others] } })),
    ).toEqual({
      kind: 'rerun',
      repository,
      headSha: sha,
      branch: 'main',
      check: { name: 'Landfall: support', externalId: 'ours' },
      by: 'octocat',
      pullRequests: [{ repository, number: 7, headSha: sha, baseBranch: 'main', fork: false }],
      why: 'a person re-requested this check',
    });
  });
});

describe('whatever comes', () => {
  test.each(['../agents', './agents', 'acme/..', 'acme/.', '../..'])(
    'ignores a repository named %s, which would change the path of a URL',
    (full_name) => {
      const push = { ref: 'refs/heads/main', before: sha, after: sha, installation: { id: 5 } };
      expect(decideEvent('push', { ...push, repository: { id: 1, full_name } }).kind).toBe('ignore');
      expect(decideEvent('push', { ...push, repository: { id: 1, full_name: '.github/..agents' } }).kind).toBe('push');
    },
  );

  const names = [...new Set(examplesOf('api.github.com').map(({ name }) => name))];

  test('decides any payload, and the decision can be stored', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.jsonValue(), (name, payload) => {
        const decision = decideEvent(name, payload);
        expect(JSON.parse(JSON.stringify(decision))).toMatchObject({ kind: decision.kind, why: decision.why });
      }),
      { numRuns: 300 },
    );
  });

  test('decides a payload with a missing or wrong field', () => {
    const examples = examplesOf('api.github.com').filter(
      ({ name, payload }) => decideEvent(name, payload).kind !== 'ignore',
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...examples),
        fc.nat(),
        fc.nat(),
        fc.jsonValue(),
        ({ name, payload }, at, below, value) => {
          const changed = structuredClone(payload);
          const outer = Object.keys(changed)[at % Object.keys(changed).length] ?? '';
          const inner = changed[outer];
          if (typeof inner === 'object' && inner !== null && below % 3 > 0) {
            const key = Object.keys(inner)[below % Math.max(1, Object.keys(inner).length)] ?? '';
            Object.assign(inner, { [key]: below % 3 === 1 ? undefined : value });
          } else changed[outer] = below % 2 === 0 ? undefined : value;
          expect(formatDecision(decideEvent(name, changed))).toMatch(/^\S.*: \S/s);
        },
      ),
      { numRuns: 500 },
    );
  });
});
