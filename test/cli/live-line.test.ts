import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { nextActivity, createLiveLine, type Activity } from '../../src/cli/live-line.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import type { DeployEvent } from '../../src/deploy/machine/deploy-event.ts';

const id = 'c0ffee00-0000-4000-8000-000000000000';
const before: Activity = { text: 'Revision c0ffee00 BUILDING', since: 1 };

describe('the current step', () => {
  test.each<[string, DeployEvent, string | undefined]>([
    ['it is looked for', { kind: 'looking', deployment: 'support' }, 'Looking for support'],
    [
      'a status',
      { kind: 'status', revisionId: id, status: 'BUILDING', at: 5, sinceMs: 0 },
      'Revision c0ffee00 BUILDING',
    ],
    ['a note changes nothing', { kind: 'noted', note: 'x' }, before.text],
    ['the agent is tested', { kind: 'smoke-began', address: 'https://agent.test', tests: 1 }, 'Testing the agent'],
    [
      'a test counts its answers',
      {
        kind: 'smoke-attempt',
        name: 'greets',
        attempt: 12,
        verdict: { kind: 'unproven', because: 'undecided', why: '', rate: { right: 10, answers: 11 } },
        again: true,
      },
      'Testing greets: 10 of 11 answers right',
    ],
    [
      'a test of one answer is repeated',
      {
        kind: 'smoke-attempt',
        name: 'greets',
        attempt: 1,
        verdict: { kind: 'unproven', because: 'unreachable', why: '' },
        again: true,
      },
      'Testing greets, attempt 2',
    ],
    ['it is rolled back', { kind: 'rolling-back', toRevisionId: id, why: 'x' }, 'Going back to revision c0ffee00'],
    ['it is rolled out', { kind: 'rolled-out', rollout: { kind: 'live', revisionId: id, seen: [] } }, undefined],
    [
      "others' control sequences are no part of it",
      { kind: 'status', revisionId: id, status: '\u001b[2JGONE', at: 5, sinceMs: 0 },
      'Revision c0ffee00 GONE',
    ],
  ])('%s', (_, event, text) => {
    expect(nextActivity(event, before, 5)?.text).toBe(text);
  });
});

/** A terminal that a test reads. */
function screen(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    columns: 80,
    clearLine: () => true,
    cursorTo: () => true,
    moveCursor: () => true,
  });
  let shown = '';
  stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  return { stream, shown: () => shown };
}

const mask = (text: string) => text.replaceAll('hunter-22', '***');
const clock = { now: () => 61_000 };

describe('the line', () => {
  test('shows the step and its duration, without secrets, and is cleared at the end', async () => {
    const { stream, shown } = screen(true);
    const live = await createLiveLine(stream, { clock, mask, env: {} });
    live.show({ text: 'Asking hunter-22', since: 1_000 });
    expect(shown()).toContain('Asking ***, 1 min');
    live.end();
    const length = shown().length;
    live.show(undefined);
    expect(shown().slice(length)).toBe('');
  });

  test('allows lines to be printed above it', async () => {
    const { stream, shown } = screen(true);
    const live = await createLiveLine(stream, { clock, mask, env: {} });
    const write = (text: string) => void stream.write(text);
    const terminal = new Terminal({ out: write, err: write });
    terminal.keepBelow(live);
    live.show({ text: 'Asking', since: 1_000 });
    terminal.print('a line');
    live.end();
    expect(shown()).toMatch(/Asking[\s\S]*a line\n[\s\S]*Asking/);
  });

  test('is absent on a terminal without a width', async () => {
    const { stream, shown } = screen(true);
    const live = await createLiveLine(Object.assign(stream, { columns: 0 }), { clock, mask, env: {} });
    live.show({ text: 'Asking', since: 1_000 });
    live.end();
    expect(shown()).toBe('');
  });

  test.each([
    ['no terminal', false, {}],
    ['a build machine', true, { CI: 'true' }],
    ['a terminal that can do nothing', true, { TERM: 'dumb' }],
  ])('is absent on %s', async (_, isTTY, env) => {
    const { stream, shown } = screen(isTTY);
    const live = await createLiveLine(stream, { clock, mask, env });
    live.show({ text: 'Asking', since: 1_000 });
    live.writeAbove(() => void stream.write('a line\n'));
    live.end();
    expect(shown()).toBe('a line\n');
  });
});
