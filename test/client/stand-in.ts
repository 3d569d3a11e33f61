import type { Clock } from '../../src/kit/clock.ts';
import { ServiceError } from '../../src/contract/service-error.ts';

/** A clock that sleeps at once and records the delays. */
export function quickClock(start = Date.parse('2026-11-21T12:00:00Z')): Clock & { slept: number[] } {
  const slept: number[] = [];
  let now = start;
  return {
    slept,
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      now += ms;
    },
  };
}

/** The `ServiceError` that a call throws; any other outcome fails the test. */
export async function serviceError(promise: Promise<unknown>): Promise<ServiceError> {
  const end: unknown = await promise.then(
    (value) => new Error(`it answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (end instanceof ServiceError) return end;
  throw end;
}

export const deploymentId = '0c1d2e3f-0000-4000-8000-000000000001';
export const revisionId = '0c1d2e3f-0000-4000-8000-000000000002';

/** A deployment as a service returns it. */
export const deploymentReply = {
  name: 'support',
  source: 'github',
  source_config: { repo_url: 'https://example.test/acme/support' },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json', repo_commit_sha: null },
  secrets: [{ name: 'TOKEN', value: 'in-the-answer' }],
  id: deploymentId,
  tenant_id: '0c1d2e3f-0000-4000-8000-000000000003',
  created_at: '2026-11-21T12:00:00Z',
  updated_at: '2026-11-21T12:00:00Z',
  status: 'READY',
  latest_revision_id: revisionId,
  active_revision_id: null,
};

export const revisionReply = { id: revisionId, status: 'BUILDING', source_revision_config: { repo_ref: 'main' } };
