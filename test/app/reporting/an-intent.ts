import type { Intent, IntentOutcome } from '../../../app/reconcile/intent.ts';

/** A commit, as long as a real one. */
export const commit = 'c0ffee0000000000000000000000000000000001';
export const newer = 'decade0000000000000000000000000000000002';

/** When the intents of these tests were made (ms since the epoch). */
export const morning = Date.parse('2026-01-05T08:00:00Z');

/** An intent of a push to main on the deployment `echo`. */
export function anIntent(over: Partial<Intent> = {}): Intent {
  return {
    id: '6f1c8f0e-7f3e-4b8a-9a31-0f0a0d3d9a01',
    seq: 1,
    deploymentId: 'd1',
    repository: { installationId: 7, repositoryId: 70, owner: 'acme', name: 'agents' },
    branch: 'main',
    commit,
    cause: { kind: 'push', key: 'guid-1', at: morning },
    terms: {
      deploymentName: 'echo',
      builder: 'app',
      rules: { skipWords: ['[skip deploy]'], afterRollback: 'continue' },
      smokeTests: [],
      onFailure: 'keep',
      environment: { name: 'production', production: true, transient: false },
      differences: [],
      timeoutMs: 1_800_000,
      notes: [],
    },
    state: 'requested',
    sending: { kind: 'restate', repoRef: 'main' },
    createdAt: morning,
    updatedAt: morning,
    ...over,
  };
}

/** The same, ended, with a revision. */
export const anEnded = (
  end: Partial<IntentOutcome> & Pick<IntentOutcome, 'kind'>,
  over: Partial<Intent> = {},
): Intent =>
  anIntent({
    state: 'ended',
    sentAt: morning + 1000,
    revisionId: 'r2',
    formerLiveRevisionId: 'r1',
    how: 'triggered',
    end: { reason: 'It ended.', at: morning + 60_000, ...end },
    ...over,
  });
