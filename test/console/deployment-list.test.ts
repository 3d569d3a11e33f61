import { expect, test } from 'vitest';
import type { DeploymentSummary } from '../../src/contract/control/deployment-summary.ts';
import {
  activityTexts,
  changeText,
  readView,
  shownDeployments,
  stateCounts,
  viewQuery,
  barsOf,
  barsPath,
} from '../../src/console/pages/deployments/deployment-list.ts';
import { whyNotRevocable } from '../../src/console/pages/workspace/audit.ts';

const deployment = (name: string, state: string, requests: number[] = []): DeploymentSummary => ({
  id: name,
  name,
  source: 'github',
  state,
  url: null,
  latest_revision_id: null,
  active_revision_id: null,
  live_commit: name === 'b' ? { sha: 'abc123', subject: 'Fix it', author: null, authored_at: null } : null,
  last_change: null,
  verdict: null,
  activity: { step_seconds: 60, requests, errors: [], runs: [], failed_runs: [] },
});
const all = [deployment('a', 'live', [3]), deployment('b', 'failed', [1, 9]), deployment('c', 'live', [3])];
const shown = (query: Record<string, string>): string[] =>
  shownDeployments(all, readView(query)).map(({ name }) => name);

test('filters and sorts by the query of the address', () => {
  expect(shown({})).toEqual(['a', 'b', 'c']);
  expect(shown({ sort: '-name' })).toEqual(['c', 'b', 'a']);
  expect(shown({ sort: '-requests' })).toEqual(['b', 'a', 'c']);
  const [first, ...others] = all;
  // Its requests succeeded: they only started runs that failed.
  const failing = first && { ...first, name: 'z', activity: { ...first.activity, runs: [3], failed_runs: [3] } };
  const byFailures = shownDeployments([...others, ...(failing ? [failing] : [])], readView({ sort: '-failures' }));
  expect(byFailures.map(({ name }) => name)).toEqual(['z', 'b', 'c']);
  expect(shown({ sort: 'state' })).toEqual(['b', 'a', 'c']);
  expect(shown({ q: 'ABC12 fix' })).toEqual(['b']);
  expect(shown({ q: 'fix', state: 'live' })).toEqual([]);
  expect(shown({ sort: 'unknown' })).toEqual(['a', 'b', 'c']);
});

test('an address keeps a view', () => {
  const query = '?q=a+b&state=live&sort=-change';
  expect(viewQuery(readView(Object.fromEntries(new URLSearchParams(query))))).toBe(query);
  expect(viewQuery(readView({}))).toBe('');
});

test('counts states, also unknown ones', () => {
  const counts = Object.fromEntries(stateCounts([...all, deployment('d', 'paused')]));
  expect(counts).toEqual({
    live: 2,
    deploying: 0,
    failed: 1,
    'not-deployed': 0,
    deleting: 0,
    'no-source': 0,
    paused: 1,
  });
});

test('draws counts as bars, and says them', () => {
  expect(barsOf([0, 1, 1_000], 1_000)).toEqual([
    { x: 1, y: 22, height: 2 },
    { x: 2, y: 0, height: 24 },
  ]);
  expect(barsPath(barsOf([5], 10))).toBe('M0 12h.8v12h-.8z');
  expect(
    activityTexts({ step_seconds: 60, requests: [1_204], errors: [0, 0], runs: [1, 0], failed_runs: [1, 0] }),
  ).toEqual({
    requests: '1,204 requests',
    runs: '1 run, 1 failed',
  });
});

test('says why a key cannot be revoked', () => {
  const key = { id: 'k', name: 'k', created_at: '', last_used_at: null, scopes: ['admin' as const], expires_at: null };
  const ordinary = { ...key, is_organisation_key: false, is_installation_key: false };
  const another = { ...ordinary, id: 'another' };
  expect(whyNotRevocable(ordinary, [ordinary, another])).toBeUndefined();
  expect(whyNotRevocable(ordinary, [ordinary])).toContain('The only key');
  expect(whyNotRevocable(ordinary, [ordinary, { ...another, scopes: ['deploy'] }])).toContain('The only key');
  expect(whyNotRevocable({ ...ordinary, scopes: ['read'] }, [ordinary])).toBeUndefined();
  expect(whyNotRevocable({ ...ordinary, is_organisation_key: true }, [another])).toContain('other workspaces');
  expect(whyNotRevocable({ ...ordinary, is_installation_key: true }, [another])).toContain('of this installation');
});

test('says in words what the last change was, and by whom', () => {
  expect(changeText({ operation: 'patch deployment', actor: 'key', key_name: 'Ada' })).toBe('Changed by key “Ada”');
  expect(changeText({ operation: 'build push', actor: 'service', key_name: null })).toBe('Push by the service');
  expect(changeText({ operation: 'bind integration', actor: 'key', key_name: 'Ada' })).toBe(
    'Bind integration by key “Ada”',
  );
});
