import { describe, expect, test } from 'vitest';
import { readEntryOptions } from '../../../src/deploy/file/entry-options.ts';
import type { Inputs } from '../../../src/deploy/file/input-table.ts';

const base: Inputs = { 'base-url': 'https://host/api-host', 'api-key': 'key' };

describe('the inputs that say how and where', () => {
  test('have the defaults of action.yml', () => {
    expect(readEntryOptions(base)).toEqual({
      ok: true,
      options: {
        baseUrl: 'https://host/api-host',
        apiKey: 'key',
        spelling: 'auto',
        allowHttp: false,
        mode: 'deploy',
        wait: true,
        timeoutMs: 1_800_000,
        pollMs: 5000,
        onSuperseded: 'fail',
        dryRun: false,
        ignoresFreeze: false,
        keepTracingProject: false,
      },
    });
  });

  test.each([
    ['a missing address', { 'base-url': '' }, 'base-url', undefined],
    ['an address that is none', { 'base-url': 'host/api' }, 'base-url', undefined],
    ['a password in the address', { 'base-url': 'https://me:secret@host' }, 'base-url', undefined],
    ['plain http to another machine', { 'base-url': 'http://host' }, 'base-url', undefined],
    ['plain http to an agent on another machine', { 'agent-url': 'http://host' }, 'agent-url', undefined],
    ['a key that no header may carry', { 'api-key': 'two secret@ words' }, 'api-key', undefined],
    ['a workspace that no header may carry', { 'tenant-id': 'a\nb' }, 'tenant-id', undefined],
    ['a mode with a slip of the finger', { mode: 'deplyo' }, 'mode', 'deploy'],
    ['a word for true that is none', { wait: 'yes' }, 'wait', undefined],
    ['a dry run of a rollback', { mode: 'rollback', 'dry-run': 'true' }, 'dry-run', undefined],
    ['a time that is no number', { 'timeout-minutes': 'soon' }, 'timeout-minutes', undefined],
    ['a poll of no time', { 'poll-seconds': '0' }, 'poll-seconds', undefined],
    ['an unknown spelling', { 'field-names': 'Public' }, 'field-names', 'public'],
  ])('%s is named', (_, inputs, field, suggestion) => {
    const read = readEntryOptions({ ...base, ...inputs });
    expect(read.ok ? [] : read.problems.map((problem) => [problem.field, problem.suggestion])).toEqual([
      [field, suggestion],
    ]);
    expect(JSON.stringify(read)).not.toContain('secret@');
  });

  test.each([
    ['to this machine', { 'base-url': 'http://127.0.0.1:8123' }],
    ['where it was allowed', { 'base-url': 'http://host', 'allow-http': 'true' }],
  ])('take plain http %s', (_, inputs) => expect(readEntryOptions({ ...base, ...inputs }).ok).toBe(true));

  test.each([
    ['of a deploy is a plan', { 'dry-run': 'true' }, { mode: 'plan', dryRun: true }],
    ['of a deletion stays one', { mode: 'delete', 'dry-run': 'TRUE' }, { mode: 'delete', dryRun: true }],
    ['that is none changes nothing', { mode: 'delete', 'dry-run': 'false' }, { mode: 'delete', dryRun: false }],
  ])('a dry run %s', (_, inputs, options) =>
    expect(readEntryOptions({ ...base, ...inputs })).toMatchObject({ ok: true, options }),
  );

  test('are all judged at once', () => {
    const read = readEntryOptions({ mode: 'x', wait: 'y', 'poll-seconds': 'z' });
    expect(read.ok ? [] : read.problems.map(({ field }) => field)).toEqual([
      'base-url',
      'mode',
      'wait',
      'poll-seconds',
    ]);
  });
});
