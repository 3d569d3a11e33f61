import { describe, expect, test } from 'vitest';
import { readWorkflow } from '../../src/action/workflow.ts';

const push = {
  eventName: 'push',
  sha: 'a'.repeat(40),
  ref: 'refs/heads/main',
  serverUrl: 'https://github.com',
  runId: 900,
  actor: 'octocat',
  payload: {},
};
const pullRequest = (repository: string | undefined) => ({
  ...push,
  eventName: 'pull_request',
  ref: 'refs/pull/1/merge',
  payload: {
    pull_request: {
      number: 1,
      head: {
        ref: 'topic',
        sha: 'b'.repeat(40),
        ...(repository ? { repo: { full_name: repository } } : { repo: null }),
      },
    },
  },
});

describe('the workflow run', () => {
  test('of a push is of its commit and branch', () => {
    expect(readWorkflow(push, 'acme/agents')).toEqual({
      workflow: {
        repository: 'acme/agents',
        serverUrl: 'https://github.com',
        ref: 'refs/heads/main',
        sha: push.sha,
        runUrl: 'https://github.com/acme/agents/actions/runs/900',
      },
      withoutSecrets: false,
    });
  });

  test('of a pull request knows its head, not only the merge', () => {
    expect(readWorkflow(pullRequest('acme/agents'), 'acme/agents').workflow).toMatchObject({
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
    expect(readWorkflow(event, 'acme/agents').withoutSecrets).toBe(withoutSecrets);
  });

  test('outside a runner there is none', () => {
    expect(readWorkflow({ ...push, sha: '', ref: '' }, undefined).workflow).toBeUndefined();
  });
});
