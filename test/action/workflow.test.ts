import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/action/run-event.ts';
import { readWorkflow } from '../../src/action/workflow.ts';

const push: RunEvent = {
  eventName: 'push',
  repository: 'acme/agents',
  sha: 'a'.repeat(40),
  ref: 'refs/heads/main',
  serverUrl: 'https://github.com',
  apiUrl: 'https://api.github.com',
  runId: '900',
  runAttempt: 1,
  actor: 'octocat',
  payload: {},
};
const head = 'b'.repeat(40);
const pullRequest = (repository: string | undefined): RunEvent => ({
  ...push,
  eventName: 'pull_request',
  ref: 'refs/pull/1/merge',
  payload: {
    pull_request: {
      number: 1,
      head: { ref: 'topic', sha: head, repo: repository ? { full_name: repository } : null },
    },
  },
});

describe('the workflow run', () => {
  test('of a push is of its commit and branch', () => {
    expect(readWorkflow(push)).toEqual({
      workflow: {
        repository: 'acme/agents',
        serverUrl: 'https://github.com',
        ref: 'refs/heads/main',
        sha: push.sha,
        runUrl: 'https://github.com/acme/agents/actions/runs/900',
      },
      isPullRequest: false,
      withoutSecrets: false,
      isDependabot: false,
      isClosed: false,
    });
  });

  test('of a pull request knows its head, not only the merge', () => {
    expect(readWorkflow(pullRequest('acme/agents')).workflow).toMatchObject({
      headRef: 'topic',
      headSha: 'b'.repeat(40),
      headRepository: 'acme/agents',
    });
  });

  test.each([
    ['a branch of the same repository', pullRequest('Acme/agents'), false],
    ['a fork', pullRequest('someone/agents'), true],
    ['a fork that is gone', pullRequest(undefined), true],
    ['Dependabot', { ...push, actor: 'dependabot[bot]' }, true],
    ['a push', push, false],
  ])('%s: without secrets %#', (_, event, withoutSecrets) => {
    expect(readWorkflow(event).withoutSecrets).toBe(withoutSecrets);
  });

  test('outside a runner there is none', () => {
    expect(readWorkflow({ ...push, repository: '', sha: '', ref: '' }).workflow).toBeUndefined();
  });

  const run = {
    head_sha: head,
    head_branch: 'topic',
    head_repository: { full_name: 'someone/agents' },
    pull_requests: [],
  };
  const here = { repository: { id: 1 } };
  const theirs = { number: 99, base: { ref: 'main', repo: { id: 2 } } };
  const ours = { number: 7, base: { ref: 'main', repo: { id: 1 } } };
  const ofHead = { headRef: 'topic', headSha: head, headRepository: 'someone/agents' };
  test.each([
    ['workflow_run of a push', { workflow_run: { ...run, event: 'push' } }, { sha: head, ref: 'topic' }, false],
    ['workflow_run of a fork', { workflow_run: { ...run, event: 'pull_request' } }, { sha: head, ...ofHead }, true],
    [
      'workflow_run of a pull request',
      { workflow_run: { ...run, event: 'pull_request', pull_requests: [{ number: 7 }] } },
      { ...ofHead, pullRequest: 7 },
      true,
    ],
    [
      "workflow_run with another repository's pull request first",
      { ...here, workflow_run: { ...run, event: 'pull_request', pull_requests: [theirs, ours] } },
      { ...ofHead, pullRequest: 7 },
      true,
    ],
    [
      "check_suite of a branch that is another repository's pull request",
      { ...here, check_suite: { head_sha: head, head_branch: 'topic', pull_requests: [theirs] } },
      { sha: head, ref: 'topic' },
      false,
    ],
    ['check_suite', { check_suite: { head_sha: head, head_branch: 'topic' } }, { sha: head, ref: 'topic' }, false],
    ['issue_comment', { issue: { number: 7, pull_request: { url: 'x' } } }, { pullRequest: 7 }, true],
    ['issue_comment on an issue', { issue: { number: 7 } }, { sha: push.sha }, false],
    ['merge_group', { merge_group: { head_sha: head } }, { sha: head }, false],
    ['status', { sha: head }, { sha: head }, false],
    ['schedule', { schedule: '0 0 * * *' }, { sha: push.sha, ref: 'refs/heads/main' }, false],
    ['workflow_dispatch', { inputs: {} }, { sha: push.sha }, false],
    ['release', { release: { tag_name: 'v1' } }, { sha: push.sha }, false],
  ])('of %s is of its commit and pull request', (eventName, payload, workflow, isPullRequest) => {
    const read = readWorkflow({ ...push, eventName, payload });
    expect(read).toMatchObject({ workflow, isPullRequest });
    const { pullRequest } = { pullRequest: undefined, ...workflow };
    expect(read.workflow?.pullRequest).toBe(pullRequest);
  });

  test('of a deployment of a bare commit has no ref', () => {
    expect(readWorkflow({ ...push, eventName: 'deployment', ref: '' }).workflow).toMatchObject({ sha: push.sha });
  });
});
