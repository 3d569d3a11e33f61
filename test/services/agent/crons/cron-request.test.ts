import { describe, expect, test } from 'vitest';
import { applyCronPatch, changesPayload, newCron } from '../../../../src/services/agent/crons/cron-request.ts';
import type { StoredCron } from '../../../../src/services/agent/crons/cron-row.ts';
import { runOf, showCron } from '../../../../src/services/agent/crons/cron-row.ts';
import type { CronCreate, CronPatch } from '../../../../src/contract/agent/cron.ts';

const now = Date.parse('2026-11-21T08:00:00Z');
const order = { cronId: 'cron', assistantId: 'assistant', threadId: undefined, userId: undefined, now };
const requested: CronCreate = { assistant_id: 'echo', schedule: '0 9 * * *' };

function made(request: Partial<CronCreate> = {}, threadId?: string): StoredCron {
  const cron = newCron({ ...requested, ...request }, { ...order, threadId });
  if (!cron.ok) throw new Error(cron.reason);
  return cron.cron;
}

describe('a new cron', () => {
  test('is enabled, in UTC, without an end, and deletes its threads', () => {
    expect(showCron(made({ input: { a: 1 }, metadata: { by: 'me' } }))).toEqual({
      cron_id: 'cron',
      assistant_id: 'assistant',
      thread_id: null,
      schedule: '0 9 * * *',
      timezone: null,
      end_time: null,
      enabled: true,
      on_run_completed: 'delete',
      created_at: '2026-11-21T08:00:00.000Z',
      updated_at: '2026-11-21T08:00:00.000Z',
      next_run_date: '2026-11-21T09:00:00.000Z',
      payload: { assistant_id: 'assistant', input: { a: 1 }, metadata: { by: 'me' } },
      metadata: { by: 'me' },
      user_id: null,
    });
  });

  test.each<[string, Partial<CronCreate>, string | null]>([
    ['uses its time zone', { timezone: 'Asia/Tokyo' }, '2026-11-22T00:00:00.000Z'],
    ['has no next run when disabled', { enabled: false }, null],
    ['has no next run when its end comes first', { end_time: '2026-11-21T08:30:00Z' }, null],
    ['accepts an end with an offset', { end_time: '2026-11-21T10:00:00+01:00' }, '2026-11-21T09:00:00.000Z'],
    ['reads an end without an offset as UTC', { end_time: '2026-11-21T08:59:00' }, null],
  ])('%s', (_, request, next) => expect(showCron(made(request)).next_run_date).toBe(next));

  test.each<[string, Partial<CronCreate>, string | undefined, string, RegExp]>([
    ['an invalid schedule', { schedule: 'often' }, undefined, 'schedule', /has 1 fields/],
    ['an unknown time zone', { timezone: 'Mars/Base' }, undefined, 'timezone', /names no time zone/],
    ['an end in the past', { end_time: '2026-11-21T08:00:00Z' }, undefined, 'end_time', /is over/],
    ['on_run_completed=delete on a thread', { on_run_completed: 'delete' }, 'thread', 'on_run_completed', /keeps/],
  ])('rejects %s', (_, request, threadId, field, reason) => {
    const cron = newCron({ ...requested, ...request }, { ...order, threadId });
    expect(cron).toMatchObject({ ok: false, field, reason: expect.stringMatching(reason) });
  });

  test('starts runs with the requested fields and the cron id', () => {
    const run: Partial<CronCreate> = {
      input: { a: 1 },
      config: { recursion_limit: 7 },
      context: { tone: 'low' },
      webhook: 'https://example.com/hook?token=t',
      interrupt_before: ['a'],
      interrupt_after: '*',
      stream_mode: ['updates'],
      stream_subgraphs: true,
      stream_resumable: true,
      durability: 'sync',
      multitask_strategy: 'interrupt',
      checkpoint_during: false,
    };
    const expected = { ...run, assistant_id: 'assistant', metadata: { by: 'me', cron_id: 'cron' } };
    expect(runOf(made({ ...run, metadata: { by: 'me', cron_id: 'mine' } }, 'thread'))).toEqual(expected);
    expect(runOf(made({ ...run, metadata: { by: 'me' }, on_run_completed: 'keep' }))).toEqual({
      ...expected,
      on_completion: 'keep',
    });
  });
});

describe('a cron with a user', () => {
  test('stores the user', () => {
    expect(newCron(requested, { ...order, userId: 'ada' })).toMatchObject({ ok: true, cron: { user_id: 'ada' } });
  });
});

describe('a changed cron', () => {
  const change = (read: StoredCron, patch: CronPatch, at = now + 60_000) => {
    const changed = applyCronPatch(read, patch, at);
    if (!changed.ok) throw new Error(changed.reason);
    return changed.cron;
  };
  const nextOf = (read: StoredCron, patch: CronPatch, at?: number) => {
    const { next } = change(read, patch, at);
    return next === undefined ? 'as it was' : (next?.toISOString().slice(5, 16) ?? 'none');
  };
  const late = Date.parse('2026-11-21T09:00:00.5Z');

  test.each<[string, StoredCron, CronPatch, string, number?]>([
    ['another schedule: recomputed', made(), { schedule: '*/5 * * * *' }, '11-21T08:05'],
    ['another time zone: recomputed', made(), { timezone: 'Asia/Tokyo' }, '11-22T00:00'],
    ['the same schedule: unchanged', made(), { schedule: '0 9 * * *', enabled: true }, 'as it was'],
    ['another input: unchanged', made(), { input: { b: 2 } }, 'as it was'],
    ['a due run that has not started: kept', made(), { input: { b: 2 } }, 'as it was', late],
    ['an end after the next run: unchanged', made(), { end_time: '2026-11-21T09:00:00Z' }, 'as it was'],
    ['an end before the next run: none', made(), { end_time: '2026-11-21T08:30:00Z' }, 'none'],
    ['the end removed: continues', made({ end_time: '2026-11-21T08:30:00Z' }), { end_time: null }, '11-21T09:00'],
    ['disabled: none', made(), { enabled: false }, 'none'],
    ['enabled again: missed runs are skipped', made({ enabled: false }), { enabled: true }, '11-22T09:00', late],
    ['disabled with another schedule: none', made({ enabled: false }), { schedule: '@hourly' }, 'none'],
  ])('%s', (_, read, patch, expected, at) => expect(nextOf(read, patch, at)).toBe(expected));

  test('keeps absent fields, replaces present ones, and merges metadata', () => {
    const read = made({
      input: { a: 1 },
      context: { tone: 'low', rateLimiter: 1 },
      metadata: { by: 'me' },
      timezone: 'UTC',
    });
    const { cron } = change(read, { context: { tone: 'high' }, metadata: { more: true }, on_run_completed: 'keep' });
    expect(cron).toEqual({
      ...read,
      payload: { input: { a: 1 }, context: { tone: 'high' } },
      metadata: { by: 'me', more: true },
      on_run_completed: 'keep',
      updated_at: new Date(now + 60_000),
    });
  });

  test('keeps its creator, whatever the update says', () => {
    const adas = made({ config: { configurable: { a: 1, langgraph_auth_user_id: 'ada' } } });
    expect(change(adas, { input: 1 }).cron.payload.config).toEqual(adas.payload.config);
    const config = { tags: ['t'], configurable: { b: 2, langgraph_auth_user_id: 'eve' } };
    expect(change(adas, { config }).cron.payload.config).toEqual({
      tags: ['t'],
      configurable: { b: 2, langgraph_auth_user_id: 'ada' },
    });
    expect(change(adas, { config: { configurable: {} } }).cron.payload.config).toEqual({
      configurable: { langgraph_auth_user_id: 'ada' },
    });
    const nobodys = change(made(), { config: { configurable: { langgraph_auth_user_id: 'eve' } } }).cron;
    expect(nobodys.payload.config?.configurable).toEqual({});
  });

  test('gets distinct update times for concurrent updates', () => {
    const read = made();
    const first = change(read, { enabled: false }, now).cron;
    expect(first.updated_at.getTime()).toBe(now + 1);
    expect(change(first, { enabled: true }, now).cron.updated_at.getTime()).toBe(now + 2);
  });

  test('rejects invalid fields, and ignores old invalid ones', () => {
    expect(applyCronPatch(made(), { schedule: 'often' }, now)).toMatchObject({ ok: false, field: 'schedule' });
    expect(applyCronPatch(made(), { timezone: 'Mars/Base' }, now)).toMatchObject({ ok: false, field: 'timezone' });
    expect(applyCronPatch(made(), { end_time: '2020-01-01T00:00:00Z' }, now)).toMatchObject({ field: 'end_time' });
    const ended = { ...made(), end_time: new Date(now - 1), next_run_date: null };
    expect(applyCronPatch(ended, { metadata: { a: 1 } }, now).ok).toBe(true);
  });

  test.each<[string, CronPatch, boolean]>([
    ['its input', { input: null }, true],
    ['its webhook', { webhook: '/hook' }, true],
    ['its times', { schedule: '@daily', enabled: false, end_time: null, timezone: 'UTC' }, false],
    ['its metadata', { metadata: {} }, false],
  ])('of %s', (_, patch, changes) => expect(changesPayload(patch)).toBe(changes));
});
