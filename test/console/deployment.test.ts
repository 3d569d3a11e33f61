import { describe, expect, test } from 'vitest';
import { historyEntry, type Commit } from '../../src/contract/control/revision-history.ts';
import {
  causeOf,
  changedFieldText,
  hasServed,
  isWithoutSource,
  type CausePart,
} from '../../src/console/pages/deployment/cause.ts';
import { statusTimes, totalMs } from '../../src/console/pages/deployment/revision-state.ts';

const commit: Commit = { sha: 'a1b2c3d4e5f6', subject: 'Fix greeting', author: 'Ada', authored_at: null };
const entry = (cause: object, of: Commit | null = null) =>
  historyEntry.parse({
    revision: { id: 'r', status: 'DEPLOYED', created_at: '2026-11-15T12:00:00Z' },
    cause: { kind: 'patch', actor: 'unknown', key_id: null, key_name: null, redeploy_of: null, ...cause },
    commit: of,
    statuses: [],
    changed_fields: [],
    verdict: null,
    is_live: true,
    can_redeploy: true,
  });
const words = (parts: readonly CausePart[]): string =>
  parts.map((part) => (typeof part === 'string' ? part : 'text' in part ? part.text : part.revisionId)).join('');

const byKey = { actor: 'key', key_name: 'ci' };

describe('the cause of a revision in words', () => {
  test.each([
    [{ kind: 'push', actor: 'service' }, commit, 'Push by Ada: Fix greeting (a1b2c3d)'],
    [{ kind: 'push' }, { ...commit, author: null }, 'Push: Fix greeting (a1b2c3d)'],
    [{ kind: 'push' }, { ...commit, subject: null }, 'Push by Ada: commit a1b2c3d'],
    [{ kind: 'push' }, null, 'Push'],
    [{ kind: 'redeploy', redeploy_of: 'r1', ...byKey }, null, 'Redeploy of r1 · key “ci”'],
    [{ kind: 'rollback', redeploy_of: 'r1' }, commit, 'Rollback to r1'],
    [{ kind: 'rollback', ...byKey }, commit, 'Rollback · key “ci”'],
    [{ kind: 'patch', ...byKey }, commit, 'Changed · key “ci”'],
    [{ kind: 'create', actor: 'operator' }, null, 'First deploy · by the operator'],
    [{ kind: 'create', ...byKey }, commit, 'Fix greeting (a1b2c3d) by Ada'],
    [{ kind: 'something-new' }, null, 'Cause not recorded'],
  ])('%j', (cause, of, expected) => expect(words(causeOf(entry(cause, of)).headline)).toBe(expected));

  test('has the commit and the cause of a revision that no push caused in two lines', () => {
    const details = (kind: string) => words(causeOf(entry({ kind, ...byKey }, commit)).details);
    expect(details('create')).toBe('First deploy · key “ci”');
    expect(details('patch')).toBe('Fix greeting (a1b2c3d) by Ada');
    expect(details('push')).toBe('');
  });

  const path = 'source_revision_config.source_tarball_path';
  const patched = (changed_fields: string[]) => ({ ...entry({ kind: 'patch', ...byKey }), changed_fields });
  test.each([
    [[path], 'Uploaded TIME · key “ci”'],
    [[path, 'source_revision_config.graph_config_path'], 'Uploaded TIME · key “ci”'],
    [[path, 'secrets.A'], 'Uploaded TIME, with changes · key “ci”'],
    [['secrets.A'], 'Changed · key “ci”'],
  ])('is an upload where %j changed', (fields, expected) => {
    const time = /\d+ Nov, \d\d:\d\d/;
    expect(words(causeOf(patched(fields)).headline).replace(time, 'TIME')).toBe(expected);
  });

  test('names the source in words, and other fields by their paths', () => {
    expect([path, 'secrets.A'].map(changedFieldText)).toEqual(['source', 'secrets.A']);
  });

  test('says of the first revision of a folder that it has no source yet', () => {
    const created = (source: string, source_tarball_path: string | null) => {
      const made = entry({ kind: 'create', ...byKey });
      return { ...made, revision: { ...made.revision, source, source_revision_config: { source_tarball_path } } };
    };
    expect(words(causeOf(created('internal_source', null)).headline)).toBe(
      'Created, waiting for the first upload · key “ci”',
    );
    expect(isWithoutSource(created('internal_source', '/uploads/a'))).toBe(false);
    expect(isWithoutSource(created('github', null))).toBe(false);
  });

  test('has what others wrote apart from our words', () => {
    const { headline, details } = causeOf(entry(byKey, commit));
    const parts = [...headline, ...details];
    expect(parts.filter((part) => typeof part === 'string').join('')).not.toMatch(/ci|Ada|Fix/);
  });
});

test('only a revision that was live once has served', () => {
  const of = (status: string, former: string[], is_live = false) => ({
    ...entry({}),
    revision: { ...entry({}).revision, status },
    statuses: former.map((each) => ({ status: each, message: null, at: '2026-01-02T03:04:05Z' })),
    is_live,
  });
  expect(hasServed(of('DEPLOY_FAILED', ['DEPLOYING', 'DEPLOY_FAILED']))).toBe(false);
  expect(hasServed(of('UNKNOWN', ['DEPLOYED', 'UNKNOWN']))).toBe(true);
  expect(hasServed(of('DEPLOYED', []))).toBe(true);
});

describe('the times of a revision', () => {
  const at = (second: number, status: string) => ({
    status,
    message: null,
    at: new Date(second * 1_000).toISOString(),
  });

  test('are until the next status, and until now in progress', () => {
    const statuses = [at(0, 'QUEUED'), at(2, 'BUILDING'), at(3, 'BUILDING')];
    expect(statusTimes(statuses, 10_000).map(({ status, ms }) => [status, ms])).toEqual([
      ['QUEUED', 2_000],
      ['BUILDING', 8_000],
    ]);
    expect(totalMs(statuses, 10_000)).toBe(10_000);
  });

  test('end with the last status', () => {
    const statuses = [at(0, 'BUILDING'), at(4, 'BUILD_FAILED')];
    expect(statusTimes(statuses, 99_000).at(-1)?.ms).toBeUndefined();
    expect(totalMs(statuses, 99_000)).toBe(4_000);
    expect(totalMs([], 0)).toBeUndefined();
  });
});
