import { beforeEach, describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/contract/agent/run.ts';
import { recordConversations, type ConversationCheck } from '../../../src/deploy/smoke/conversations.ts';
import { checkConversations } from '../../../src/deploy/smoke/converse.ts';
import type { NamedVerdict } from '../../../src/deploy/rules/verdict-types.ts';
import { serviceError } from '../machine/control-model.ts';
import { SimulatedClock } from '../machine/simulated-clock.ts';
import { ThreadServerModel, ThreadsModel } from './threads-model.ts';

let clock: SimulatedClock;
let threads: ThreadsModel;
let live: ThreadServerModel;
let changed: ThreadServerModel;
let notes: string[];
let check: ConversationCheck;

beforeEach(() => {
  clock = new SimulatedClock();
  threads = new ThreadsModel();
  live = new ThreadServerModel(threads, clock);
  changed = new ThreadServerModel(threads, clock);
  notes = [];
  const terms = { newest: 10, timeoutMs: 60_000 };
  check = { terms, clock, note: (text) => void notes.push(text), redact: (text) => text };
});

async function run(between: () => void = () => undefined): Promise<NamedVerdict | undefined> {
  const recorded = await recordConversations(live, check);
  between();
  return checkConversations(recorded, { changed, live }, check);
}

const failed: RunResult = { kind: 'error', error: { error: 'TypeError', message: 'no "secret words" here' } };
const ended: RunResult = { kind: 'values', values: {} };
const left = (): string[] => [...threads.threads.keys()].filter((id) => id.startsWith('copy'));

test('sends the last message of a person to a marked copy, without a webhook, and removes the copy', async () => {
  threads.add('one');
  let seen: object = {};
  changed.onRun = () => (seen = { ...threads.threads.get('copy-1')?.metadata });
  expect((await run())?.verdict.kind).toBe('passed');
  expect(changed.ran).toEqual([
    {
      assistant_id: 'refunds',
      input: { messages: [{ role: 'user', content: 'secret words' }] },
      metadata: { landfall_copy: true },
      on_disconnect: 'cancel',
    },
  ]);
  expect(seen).toMatchObject({ landfall_copy: true, landfall_copy_until: expect.stringMatching(/^20/) });
  expect([left(), live.ran, notes]).toEqual([[], [], []]);
});

describe('a run that fails', () => {
  beforeEach(() => threads.add('one'));

  test('twice, and not on the live revision, breaks the conversation; its words are not shown', async () => {
    changed.runs = [failed];
    const verdict = await run();
    expect(verdict).toMatchObject({
      verdict: { kind: 'failed', held: [{ seen: 'thread one: another message ends with `TypeError`' }] },
    });
    expect(JSON.stringify(verdict)).not.toContain('secret');
    expect([changed.ran.length, live.ran.length, left()]).toEqual([2, 1, []]);
  });

  test('on the live revision as well is not blamed on the new one', async () => {
    changed.runs = [failed];
    live.runs = [failed];
    expect(await run()).toBeUndefined();
    expect(notes).toEqual(['conversations: there is none to check (1 fails on the live revision as well)']);
  });

  test('once proves nothing', async () => {
    changed.runs = [failed, ended];
    expect((await run())?.verdict).toMatchObject({ kind: 'unproven', because: 'disagreement' });
  });

  test('by the fault of its model’s provider proves nothing, and is not tried again', async () => {
    changed.runs = [{ kind: 'error', error: { error: 'RateLimitError', message: '429 "secret words"' } }];
    const verdict = await run();
    expect(verdict?.verdict).toMatchObject({ kind: 'unproven', because: 'provider' });
    expect(JSON.stringify(verdict)).not.toContain('secret');
    expect([changed.ran.length, live.ran.length, left()]).toEqual([1, 0, []]);
  });

  test('to end in its time proves nothing, and its copy is removed', async () => {
    changed.runs = ['never'];
    expect((await run())?.verdict).toMatchObject({
      kind: 'unproven',
      because: 'hangs',
      why: expect.stringContaining('a run did not end within 60 s'),
    });
    expect(left()).toEqual([]);
  });

  test('because its copy was removed meanwhile proves nothing', async () => {
    changed.runs = [serviceError('missing', 'wait for run')];
    changed.onRun = () => left().forEach((id) => threads.threads.delete(id));
    expect((await run())?.verdict.kind).toBe('unproven');
    expect(notes).toEqual([]);
  });
});

test('what is open when the time is over is not checked, and what broke before counts', async () => {
  for (const id of ['broken', 'slow']) threads.add(id);
  check.until = clock.now() + 30_000;
  changed.runs = [failed, 'never', failed];
  expect(await run()).toMatchObject({
    attempts: 2,
    verdict: {
      kind: 'failed',
      held: [{ seen: expect.stringContaining('thread broken') }, { seen: '1 could not be checked' }],
    },
  });
  expect([clock.now(), left()]).toEqual([check.until, []]);
  expect((await run())?.verdict).toMatchObject({ kind: 'unproven', because: 'undecided' });
});

test('a state whose comparison was given up proves nothing', async () => {
  threads.add('one');
  check.compare = async () => undefined;
  expect((await run())?.verdict).toMatchObject({ kind: 'unproven', because: 'unjudged' });
  expect(left()).toEqual([]);
});

test('keeps no more of all states together than fits', async () => {
  const values = Object.fromEntries(Array.from({ length: 110 }, (_, at) => [`c${at}`, 'x'.repeat(99_000)]));
  for (const id of ['one', 'two']) threads.add(id, { values });
  expect(await run()).toMatchObject({ attempts: 1 });
  expect(notes).toEqual(['conversations: only the newest 1 are tried: more are too large together']);
});

test('a conversation that was changed or deleted meanwhile decides nothing', async () => {
  for (const id of ['stays', 'changes', 'goes']) threads.add(id);
  const verdict = await run(() => {
    const changes = threads.threads.get('changes');
    if (changes) threads.threads.set('changes', { ...changes, updated_at: '2026-01-02T00:00:00Z' });
    threads.threads.delete('goes');
  });
  expect(verdict).toMatchObject({
    attempts: 3,
    verdict: { kind: 'passed', held: [{ seen: '2 were changed or deleted meanwhile' }] },
  });
  expect(threads.copies).toEqual(['stays']);
});

test('without conversations there is no verdict', async () => {
  expect(await run()).toBeUndefined();
  expect(notes).toEqual(['conversations: there is none to check']);
});

test.each([
  ['unreachable', 'unreachable'],
  ['unauthorized', 'denied'],
] as const)('a live revision that is %s proves nothing', async (kind, because) => {
  live.failing.set('searchThreads', serviceError(kind, 'search threads'));
  expect((await run())?.verdict).toMatchObject({ kind: 'unproven', because });
});

test('a new revision that is unreachable proves nothing', async () => {
  threads.add('one');
  changed.failing.set('getThread', serviceError('unreachable', 'get thread'));
  expect((await run())?.verdict).toMatchObject({ kind: 'unproven', because: 'unreachable' });
});

test('a graph that is gone breaks its conversations, and no copy is made', async () => {
  threads.add('one');
  changed.failing.set('drawGraph', serviceError('missing', 'draw graph'));
  expect((await run())?.verdict).toMatchObject({
    held: [{ seen: 'thread one: the new revision does not have its graph `refunds`' }],
  });
  expect(threads.copies).toEqual([]);
});

test.each(['getThread', 'drawGraph'])('an address where everything is gone proves nothing (%s)', async (first) => {
  threads.add('one');
  for (const each of [first, 'ok']) changed.failing.set(each, serviceError('missing', each));
  expect((await run())?.verdict).toMatchObject({ kind: 'unproven', because: 'unreachable' });
  expect([threads.copies, notes]).toEqual([[], []]);
});

test('marks copies on a server without a time to live for threads', async () => {
  threads.add('one');
  changed.failing.set('ttl', serviceError('rejected', 'patch thread'));
  expect((await run())?.verdict.kind).toBe('passed');
});

test.each([
  [{ thread_copy_metadata: true }, true],
  [{}, undefined],
])('a server with the flags %j makes copies with the mark %s', async (flags, mark) => {
  threads.add('one');
  changed.flags = flags;
  let made: unknown;
  changed.onCopy = () => (made = threads.threads.get('copy-1')?.metadata?.['landfall_copy']);
  expect((await run())?.verdict.kind).toBe('passed');
  expect(made).toBe(mark);
});

test('makes copies on a server without information about itself', async () => {
  threads.add('one');
  changed.failing.set('info', serviceError('missing', 'get server info'));
  expect((await run())?.verdict.kind).toBe('passed');
});

test('tries no copy that it could not mark, and removes it', async () => {
  threads.add('one');
  changed.failing.set('patchThread', serviceError('unreachable', 'patch thread'));
  expect((await run())?.verdict.kind).toBe('unproven');
  expect([changed.ran, left(), threads.copies]).toEqual([[], [], ['one']]);
});

test('removes copies at the live revision when the new one is gone, and names what is left', async () => {
  threads.add('one');
  changed.onRun = () => changed.failing.set('deleteThread', serviceError('unreachable', 'delete thread'));
  await run();
  expect([left(), notes]).toEqual([[], []]);
  live.failing.set('deleteThread', serviceError('unreachable', 'delete thread'));
  await run();
  expect(left()).toEqual(['copy-2']);
  expect(notes).toEqual([expect.stringContaining('could not remove the copy copy-2 of thread one')]);
});

test('removes copies at the live revision once the hold of the new one has ended', async () => {
  threads.add('one');
  const missing = (call: string) => serviceError('missing', call, { status: 404 });
  changed.onRun = () => ['deleteThread', 'ok'].forEach((call) => changed.failing.set(call, missing(call)));
  await run();
  expect([left(), notes]).toEqual([[], []]);
});

test('a copy that is being made when the check is cancelled is removed as well', async () => {
  threads.add('one');
  const cancelled = new AbortController();
  changed.onCopy = () => cancelled.abort(new Error('cancelled'));
  check.signal = cancelled.signal;
  await expect(run()).rejects.toThrow('cancelled');
  expect([left(), threads.copies, changed.ran]).toEqual([[], ['one'], []]);
});

test('a cancelled check removes its copies before it rejects', async () => {
  for (const id of ['one', 'two', 'three', 'four', 'five', 'six']) threads.add(id);
  const cancelled = new AbortController();
  changed.runs = ['never'];
  changed.onRun = () => cancelled.abort(new Error('cancelled'));
  check.signal = cancelled.signal;
  await expect(run()).rejects.toThrow('cancelled');
  expect(left()).toEqual([]);
  expect(threads.copies.length).toBeLessThanOrEqual(4);
});
