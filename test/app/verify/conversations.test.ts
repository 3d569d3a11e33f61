import { describe, expect, test } from 'vitest';
import type { RunResult } from '../../../src/contract/agent/run.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { randomFrom } from '../../random-from.ts';
import { Conversing } from './conversing.ts';
import { secret } from './driving.ts';

const waiting = { next: ['review'], values: { messages: [{ type: 'human', content: 'secret words' }] } };
const failed: RunResult = { kind: 'error', error: { error: 'TypeError', message: 'no "secret words" here' } };

/** Two idle conversations and one that waits in a node. */
function conversing(): Conversing {
  const all = new Conversing();
  for (const id of ['one', 'two']) all.threads.add(id);
  all.threads.add('three', waiting);
  return all;
}

const passed = { kind: 'passed', tests: [{ name: 'conversations', attempts: 3, verdict: { kind: 'passed' } }] };

test('a held revision whose conversations go on passes, and a renamed node is named with the id of its thread', async () => {
  expect(await conversing().process()).toMatchObject(passed);
  const renamed = conversing();
  renamed.held.drawGraph = async () => ({ nodes: [{ id: 'approve' }], edges: [] });
  const verdict = await renamed.process();
  expect(verdict).toMatchObject({
    kind: 'failed',
    tests: [
      { verdict: { held: [{ seen: expect.stringMatching(/^thread three: its next step is the node `review`/) }, {}] } },
    ],
  });
  expect(JSON.stringify([verdict, renamed.stored, renamed.logged])).not.toContain('secret words');
  expect([renamed.copies, renamed.threads.threads.size]).toEqual([[], 3]);
});

test('secrets that are names of nodes are masked, and without them nothing of the agent is shown', async () => {
  const all = new Conversing();
  all.threads.add('one', { ...waiting, next: [secret] });
  all.live.drawGraph = async () => ({ nodes: [{ id: secret }], edges: [] });
  expect(JSON.stringify(await all.process())).toMatch(/thread one: its next step is the node `\*\*\*`/);
  all.control.fails('get', serviceError('unreachable', 'get deployment'), { times: 9 });
  all.stored.length = 0;
  expect(JSON.stringify(await all.process())).toMatch(/node `\(not shown/);
});

describe('nothing is tried', () => {
  test.each<[string, (all: Conversing) => void, object]>([
    [
      'without conversations in the file',
      ({ intent }) => delete intent.terms.conversations,
      { kind: 'none', tests: [] },
    ],
    ['on a revision that is not held', ({ intent }) => delete intent.hold, { kind: 'none', tests: [] }],
    ['where no revision served before', ({ intent }) => delete intent.former.live, { kind: 'none', tests: [] }],
    ['where there are none', ({ threads }) => threads.threads.clear(), { kind: 'none', tests: [] }],
    [
      'where the live revision has no address',
      ({ intent }) => delete intent.hold?.live,
      { kind: 'unproven', tests: [{ verdict: { because: 'no-address' } }] },
    ],
    [
      'when the hold ends soon',
      ({ intent, clock }) => void (intent.hold && (intent.hold.endsAt = new Date(clock.now() + 60_000).toISOString())),
      { kind: 'unproven', tests: [{ verdict: { because: 'undecided' } }] },
    ],
  ])('%s', async (_, change, expected) => {
    const all = conversing();
    change(all);
    expect(await all.process()).toMatchObject(expected);
    expect([all.threads.copies, all.held.ran]).toEqual([[], []]);
  });
});

test('what is open when the hold ends soon is not checked', async () => {
  const all = conversing();
  all.held.runs = ['never'];
  const endsAt = all.clock.now() + 90_000;
  if (all.intent.hold) all.intent.hold.endsAt = new Date(endsAt).toISOString();
  expect(await all.process()).toMatchObject({ kind: 'unproven' });
  expect([all.clock.now(), all.copies]).toEqual([endsAt - 60_000, []]);
});

describe('a process that is killed', () => {
  test.each(['before', 'after'] as const)(
    '%s any act leaves no copy, and the next one comes to the verdict',
    async (phase) => {
      const whole = conversing();
      await whole.process();
      expect(whole.calls).toBeGreaterThan(25);
      for (let nth = 1; nth <= whole.calls; nth += 1) {
        const all = conversing();
        expect(await all.process({ nth, phase })).toBe('killed');
        const { ended } = all;
        expect([nth, await all.process()]).toMatchObject([nth, passed]);
        expect([nth, all.copies, all.logged]).toEqual([nth, [], []]);
        // No turn is taken again that had ended.
        for (const [thread, copies] of ended)
          expect([nth, thread, all.ended.get(thread)]).toEqual([nth, thread, copies]);
        expect(all.stored.join()).not.toMatch(/secret words|review/);
      }
    },
  );

  test('again and again proves nothing, and leaves no copy', async () => {
    const all = conversing();
    const kill = { nth: 20, phase: 'after' } as const;
    for (let times = 0; times < 5; times += 1) {
      const ended = await all.process(kill);
      if (ended === 'killed') continue;
      expect([times, ended]).toMatchObject([4, { kind: 'unproven', tests: [{ verdict: { because: 'unreachable' } }] }]);
      expect([all.copies, all.threads.copies.length > 3]).toEqual([[], true]);
    }
    expect.assertions(2);
  });

  test('at random acts, several times in a row, takes no turn twice that had ended', async () => {
    const repeated: unknown[] = [];
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = randomFrom(seed);
      const all = conversing();
      const isBroken = random() < 0.5;
      if (isBroken) all.held.runs = [failed];
      for (let kills = 0; kills < 3; kills += 1) {
        const { ended } = all;
        const kill = { nth: 1 + Math.floor(random() * 30), phase: random() < 0.5 ? 'before' : 'after' } as const;
        if ((await all.process(kill)) !== 'killed') break;
        // One that goes on needs a single turn.
        if (!isBroken) repeated.push(...[...ended].filter(([thread, copies]) => all.ended.get(thread) !== copies));
      }
      expect([seed, await all.process()]).toMatchObject([seed, { kind: isBroken ? 'failed' : 'passed' }]);
      expect([seed, all.copies, repeated]).toEqual([seed, [], []]);
    }
  });

  test('has copies that the tests of another request leave alone, for they may be in use', async () => {
    const all = conversing();
    expect(await all.process({ nth: 20, phase: 'after' })).toBe('killed');
    const { copies } = all;
    expect(copies.length).toBeGreaterThan(0);
    all.intent = { ...all.intent, id: '00000000-0000-4000-8000-00000000000b' };
    expect(await all.process()).toMatchObject(passed);
    expect(all.copies).toEqual(copies);
  });
});

test('a process that is to leave removes its copies first, and the next one tries again', async () => {
  const all = conversing();
  const leaving = new AbortController();
  all.held.runs = ['never'];
  all.held.onRun = () => leaving.abort(new Error('the process leaves'));
  await expect(all.process(undefined, leaving.signal)).rejects.toThrow('the process leaves');
  expect(all.copies).toEqual([]);
  all.held.onRun = () => undefined;
  all.held.runs = [failed];
  expect(await all.process()).toMatchObject({ kind: 'failed' });
  expect(all.copies).toEqual([]);
});
