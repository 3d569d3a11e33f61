import { describe, expect, test } from 'vitest';
import { EventLog, type EventRetention } from '../../../src/services/agent/runs/event-log.ts';
import { MessageStream } from '../../../src/services/agent/runs/message-stream.ts';
import { Slots } from '../../../src/services/agent/runs/slots.ts';
import { ThreadQueues } from '../../../src/services/agent/runs/run-executor.ts';
import { Backlog } from '../../../src/services/agent/api/backlog.ts';
import { nestsDeeper } from '../../../src/services/agent/api/body.ts';

describe('the events of a run', () => {
  const heard = (log: EventLog, afterId?: number) => {
    const events: string[] = [];
    const leave = log.follow((event) => events.push(event?.event ?? 'end'), afterId);
    return { events, leave };
  };
  const logOf = (retention: EventRetention, events: string[]) => {
    const log = new EventLog(retention);
    for (const event of events) log.add(event, '1');
    return log;
  };

  test.each<[string, EventRetention, string[]]>([
    ['without an expected follower: the first and the new ones', 'none', ['metadata', 'c', 'end']],
    ['with an expected follower: all of them', 'until-followed', ['metadata', 'a', 'b', 'c', 'end']],
    ['of a resumable run: all of them', 'all', ['metadata', 'a', 'b', 'c', 'end']],
  ])('%s', (_, retention, expected) => {
    const log = logOf(retention, ['metadata', 'a', 'b']);
    const { events } = heard(log);
    log.add('c', '1');
    log.close();
    expect(events).toEqual(expected);
  });

  test.each<EventRetention>(['none', 'until-followed', 'all'])('are numbered, whatever is kept: %s', (retention) => {
    const log = new EventLog(retention, 5);
    const ids: unknown[] = [];
    log.add('metadata', '1');
    log.follow((event) => ids.push(event?.id));
    log.add('a', '1');
    log.add('b', '1');
    expect(ids).toEqual([5, 6, 7]);
  });

  test('of a resumable run continue after the last received one, also after the end', () => {
    const log = logOf('all', ['metadata', 'a', 'b', 'c']);
    log.close();
    expect(heard(log, 1).events).toEqual(['b', 'c', 'end']);
    expect(heard(log, 3).events).toEqual(['end']);
  });

  test('are not sent after the follower left', () => {
    const log = logOf('none', ['metadata']);
    const { events, leave } = heard(log);
    leave();
    log.add('a', '1');
    expect(events).toEqual(['metadata']);
  });

  test('are not kept once the expected follower has left', () => {
    const log = logOf('until-followed', ['metadata', 'a']);
    heard(log).leave();
    expect(log.isHeard).toBe(false);
    log.add('b', '1');
    expect(heard(log).events).toEqual(['metadata']);
  });

  const million = 'x'.repeat(1024 * 1024);
  /** This many events of a million characters each. */
  const many = (retention: EventRetention, count: number) => {
    const log = new EventLog(retention);
    for (let n = 0; n < count; n += 1) log.add(`e${n}`, million);
    return log;
  };
  const withFirst = (from: number, count: number) => [
    'e0',
    ...Array.from({ length: count - from }, (_, n) => `e${from + n}`),
  ];

  test('are kept up to 16 MB for an expected follower, newest first', () => {
    expect(heard(many('until-followed', 20)).events).toEqual(withFirst(4, 20));
  });

  test('of a resumable run are kept up to 64 MB until stored, newest first', () => {
    expect(heard(many('all', 65)).events).toEqual(withFirst(1, 65));
    const log = many('all', 70);
    expect(heard(log).events).toEqual(withFirst(6, 70));
    expect(log.complete).toBe(6);
  });

  test('of a resumable run are kept up to 1 MB once stored', () => {
    const log = many('all', 20);
    log.stored(9);
    expect(heard(log).events).toEqual(withFirst(10, 20));
    log.stored(19);
    expect(heard(log).events).toEqual(withFirst(19, 20));
    expect(log.complete).toBe(19);
  });
});

describe('slots', () => {
  const never = new AbortController().signal;

  test('are granted in order of waiting', async () => {
    const slots = new Slots(1);
    expect(slots.tryTake()).toBe(true);
    expect(slots.tryTake()).toBe(false);
    const order: string[] = [];
    const waiting = ['a', 'b'].map((name) => slots.take(never).then(() => order.push(name)));
    slots.release();
    await waiting[0];
    expect(order).toEqual(['a']);
    slots.release();
    await waiting[1];
    expect(order).toEqual(['a', 'b']);
    slots.release();
    expect(slots.tryTake()).toBe(true);
  });

  test('skip waiters that gave up', async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const impatient = new AbortController();
    const first = slots.take(impatient.signal);
    const second = slots.take(never);
    impatient.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    slots.release();
    await second;
    expect(slots.tryTake()).toBe(false);
  });

  test('a waiter that gives up when granted a slot passes it on', async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const impatient = new AbortController();
    const first = slots.take(impatient.signal);
    const second = slots.take(new AbortController().signal);
    slots.release();
    impatient.abort(new Error('enough'));
    await first;
    slots.release();
    await second;
    expect(slots.tryTake()).toBe(false);
  });
});

describe('the queue of a thread', () => {
  const run = (sequence: number) => ({ sequence, ended: Promise.resolve(sequence) });

  test('makes a run wait for its predecessor, in any order of arrival', async () => {
    const lines = new ThreadQueues();
    lines.add('thread', run(5));
    const leave = lines.add('thread', run(2));
    lines.add('thread', run(9));
    lines.add('other', run(3));
    expect(lines.endBefore('thread', 2)).toBeUndefined();
    expect(await lines.endBefore('thread', 4)).toBe(2);
    expect(await lines.endBefore('thread', 7)).toBe(5);
    leave();
    expect(lines.endBefore('thread', 4)).toBeUndefined();
  });
});

describe('the backlog of a client', () => {
  const MB = 1024 * 1024;
  /** A client with `bytes` pending, which reads `perLook` of them between two checks. */
  const watched = async (bytes: number, perLook: number) => {
    const done = new AbortController();
    let waits = bytes;
    let looks = 0;
    let givenUp = false;
    const giveUp = () => {
      givenUp = true;
      done.abort();
    };
    const sleep = async () => {
      waits = Math.max(0, waits - perLook);
      looks += 1;
    };
    new Backlog({ now: () => 0, sleep }, done.signal, { bytes: () => waits, giveUp }).grown(bytes);
    await new Promise((resolve) => setImmediate(resolve));
    return { givenUp, looks };
  };

  test.each([
    ['little pending, nothing read', 16, 0, { givenUp: false, looks: 0 }],
    ['much pending, some of it read', 40, 10, { givenUp: false, looks: 3 }],
    ['much pending, nothing read', 40, 0, { givenUp: true, looks: 1 }],
    ['too much pending', 300, 10, { givenUp: true, looks: 0 }],
  ])('%s', async (_, waits, perLook, expected) => {
    expect(await watched(waits * MB, perLook * MB)).toEqual(expected);
  });
});

describe('nesting depth of a body', () => {
  test.each([
    ['at the limit', '[[[{}]]]', false],
    ['deeper', '[[[{"a":[]}]]]', true],
    ['brackets in strings do not count', '[["[[[[\\"[[[["]]', false],
    ['siblings do not count', '[[],[],[],[],[],[]]', false],
  ])('%s: %s', (_, json, deeper) => expect(nestsDeeper(json, 4)).toBe(deeper));
});

describe('streamed messages', () => {
  class TestChunk {
    readonly id: string;
    readonly content: string;
    constructor(id: string, content: string) {
      this.id = id;
      this.content = content;
    }
    concat(other: TestChunk): TestChunk {
      return new TestChunk(this.id, this.content + other.content);
    }
    toDict() {
      return { type: 'ai', data: { content: this.content } };
    }
  }
  const whole = (id: string) => ({ id, toDict: () => ({ type: 'human', data: {} }) });
  const reported = (play: (stream: MessageStream) => void) => {
    const events: string[] = [];
    const stream = new MessageStream((event, data) => events.push(`${event} ${JSON.stringify(data)}`));
    play(stream);
    return events;
  };

  test('begin with those of the input, grow by chunks, and complete in the state', () => {
    const events = reported((stream) => {
      stream.state({ messages: [whole('0')] });
      stream.take(new TestChunk('1', 'Go'), { node: 'say' });
      stream.take(new TestChunk('1', 'od'), { node: 'say' });
      stream.state({ messages: [whole('0'), whole('1')] });
      stream.state({ messages: [whole('0'), whole('1')] });
    });
    expect(events.map((event) => event.split(' ')[0])).toEqual([
      'messages/complete',
      'messages/metadata',
      'messages/partial',
      'messages/partial',
      'messages/complete',
    ]);
    expect(events[0]).toBe('messages/complete [{"id":"0"}]');
    expect(events[1]).toBe('messages/metadata {"1":{"metadata":{"node":"say"}}}');
    expect(events[3]).toBe('messages/partial [{"id":"1","content":"Good"}]');
    expect(events[4]).toBe('messages/complete [{"id":"1"}]');
  });

  test('are sent once if they arrive complete', () => {
    const events = reported((stream) => {
      stream.take(whole('7'), {});
      stream.take(whole('7'), {});
      stream.take('no message', {});
      stream.state({});
      stream.take(whole('7'), {});
      stream.end();
    });
    expect(events.map((event) => event.split(' ')[0])).toEqual(['messages/metadata', 'messages/complete']);
  });

  test('that arrive complete are sent at the end of their step, or of the run', () => {
    const events = reported((stream) => {
      stream.take(whole('7'), {});
      stream.state({});
      stream.take(whole('8'), {});
      stream.end();
    });
    const [, first, , second] = events;
    expect([first, second]).toEqual([
      expect.stringMatching(/^messages\/complete \[\{"id":"7"/),
      expect.stringMatching(/^messages\/complete \[\{"id":"8"/),
    ]);
  });
});
