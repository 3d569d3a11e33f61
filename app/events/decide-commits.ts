import { pushFrom } from '../../src/planning/trigger-push.ts';
import {
  actionOf,
  deletePayload,
  mergeGroupPayload,
  pullRequestPayload,
  pushPayload,
  repositoryAt,
  ignored,
  readPayload,
} from './event-payloads.ts';
import type { EventDecision } from './event-types.ts';

const branchPrefix = 'refs/heads/';

/** A push to a branch is examined; a push that deletes the branch is a deletion. */
export function decidePush(payload: unknown): EventDecision {
  return readPayload(pushPayload, payload, (read) => {
    const repository = repositoryAt(read.repository, read.installation);
    const pushed = pushFrom(read);
    if (pushed.kind === 'push') {
      const { branch, after, created, forced } = pushed.push;
      const how = created ? 'made with a push' : forced ? 'pushed with force' : 'pushed';
      return { kind: 'push', repository, branch, after, why: `the branch was ${how}` };
    }
    if (pushed.code === 'deleted') {
      return { kind: 'branch-deleted', repository, branch: read.ref.slice(branchPrefix.length), why: pushed.why };
    }
    if (pushed.code === 'fork') return { kind: 'nothing-to-build', repository, headSha: read.after, why: pushed.why };
    return ignored(pushed.why);
  });
}

/** The deletion of a branch. A push event says the same; either may arrive alone. */
export function decideDelete(payload: unknown): EventDecision {
  return readPayload(deletePayload, payload, ({ ref, ref_type: type, repository, installation }) =>
    type === 'branch'
      ? {
          kind: 'branch-deleted',
          repository: repositoryAt(repository, installation),
          branch: ref,
          why: 'the branch was deleted',
        }
      : ignored('a tag was deleted, and tags are not built on push'),
  );
}

const examined: ReadonlyMap<string, string> = new Map([
  ['opened', 'a pull request was opened'],
  ['reopened', 'a pull request was opened again'],
  ['synchronize', 'a pull request has a new head'],
  ['edited', 'a pull request goes to another branch'],
]);

/** Every new head of a pull request gets a check, and again after its base changed. */
export function decidePullRequest(payload: unknown): EventDecision {
  const action = actionOf(payload);
  const why = examined.get(action ?? '');
  if (why === undefined) return ignored('it changes neither the head nor the base of a pull request');
  return readPayload(pullRequestPayload, payload, ({ number, pull_request: pull, changes, ...at }) => {
    if (action === 'edited' && !changes?.base) return ignored('only words of the pull request were changed');
    return {
      kind: 'pull-request',
      repository: repositoryAt(at.repository, at.installation),
      number,
      headSha: pull.head.sha,
      baseBranch: pull.base.ref,
      fork: pull.head.repo?.id !== at.repository.id,
      why,
    };
  });
}

/** A merge group waits for its checks as a pull request does. */
export function decideMergeGroup(payload: unknown): EventDecision {
  if (actionOf(payload) !== 'checks_requested') return ignored('only a merge group that waits for checks needs one');
  return readPayload(mergeGroupPayload, payload, ({ merge_group: group, repository, installation }) => ({
    kind: 'merge-group',
    repository: repositoryAt(repository, installation),
    headSha: group.head_sha,
    baseBranch: group.base_ref.startsWith(branchPrefix) ? group.base_ref.slice(branchPrefix.length) : group.base_ref,
    why: 'a merge group waits for its checks',
  }));
}
