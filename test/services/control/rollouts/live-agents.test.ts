import { expect, test } from 'vitest';
import type { Clock } from '../../../../src/kit/clock.ts';
import type { AgentSpec, AgentStart, RunningAgent } from '../../../../src/services/control/compute/compute.ts';
import type { AgentRoute } from '../../../../src/services/control/gateway/agent-route.ts';
import { LiveAgents } from '../../../../src/services/control/rollouts/live-agents.ts';
import { plainSpec } from '../compute/agents.ts';

interface PlayedAgent extends RunningAgent {
  breakDown: () => void;
  stopped: () => boolean;
}

function played(name: string): PlayedAgent {
  let end = (_how: string): void => {};
  const exited = new Promise<string>((resolve) => (end = resolve));
  let stopped = false;
  return {
    origin: `http://${name}`,
    token: name,
    exited,
    async stop() {
      stopped = true;
      end('exit code 0');
    },
    breakDown: () => end('exit code 1'),
    lastLines: () => [`${name} said this`],
    stopped: () => stopped,
  };
}

/** A gateway that records its switches, a compute with prepared starts, and a manual clock. */
function fixture(starts: (AgentStart | Error | Promise<AgentStart>)[] = []) {
  const traffic: string[] = [];
  const lines: string[] = [];
  const waits: number[] = [];
  const inFlight = new Map<string, () => void>();
  let live: string | undefined;
  let now = 0;
  let hasty = false;
  const alarms: { at: number; ring: () => void }[] = [];
  const recorded: string[] = [];
  const route = (origin: string): AgentRoute => ({
    upstream: { origin, token: '' },
    inFlight: () => (inFlight.has(origin) ? 1 : 0),
    drained: () => (inFlight.has(origin) ? new Promise((resolve) => inFlight.set(origin, resolve)) : Promise.resolve()),
    close: () => void traffic.push(`closed ${origin}`),
  });
  const former = (): AgentRoute | undefined => (live === undefined ? undefined : route(live));
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (ms >= 60_000 && !hasty) {
          alarms.push({ at: now + ms, ring: resolve });
          signal?.addEventListener('abort', () => reject(signal.reason));
          return;
        }
        waits.push(ms);
        setImmediate(resolve);
      }),
  };
  const agents = new LiveAgents({
    compute: {
      async start() {
        const start = starts.shift();
        if (!start) return new Promise(() => {});
        if (start instanceof Error) throw start;
        return start;
      },
    },
    gateway: {
      live: () => (live === undefined ? undefined : { origin: live, token: '' }),
      switchTo(_id, { origin }) {
        const was = former();
        live = origin;
        traffic.push(origin);
        return was;
      },
      withdraw() {
        const was = former();
        live = undefined;
        traffic.push('nothing');
        return was;
      },
    },
    clock,
    drainMs: 600_000,
    exitHandlers: {
      untilStartable: async () => {},
      onBreakdown: (_spec, times, { reason, lastLines }) => recorded.push(`${times}: ${reason} [${lastLines.join()}]`),
      onStable: () => recorded.push('well'),
      onGiveUp: (_spec, times, { reason, lastLines }) =>
        recorded.push(`given up after ${times}: ${reason} [${lastLines.join()}]`),
    },
  });
  const spec: AgentSpec = {
    deploymentId: 'd',
    revisionId: 'r',
    name: 'd',
    program: { kind: 'build', sourceText: 'commit 1', folder: '/', graphConfigFile: '/x', homeFolder: '/h' },
    databaseUrl: 'postgres://x',
    secrets: [],
    ...plainSpec,
    log: (level, message) => lines.push(`${level}: ${message}`),
  };
  const passTime = (ms: number): void => {
    now += ms;
    for (const { at, ring } of alarms) if (at <= now) ring();
  };
  /** Makes long waits end as quickly as short ones. */
  const hurry = (): void => void (hasty = true);
  return { agents, traffic, lines, waits, inFlight, spec, recorded, passTime, hurry };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('logs whether the former agent was stopped or is idle', async () => {
  const { agents, lines, spec } = fixture();
  const [one, two, three] = [played('one'), { ...played('two'), isIdle: () => true }, played('three')];
  for (const agent of [one, two, three]) {
    agents.switchTo(spec, agent).commit();
    await settled();
  }
  expect(lines.filter((line) => /stopped|idle/.test(line))).toEqual([
    'info: The agent was stopped.',
    expect.stringMatching(/^info: The agent is idle: /),
  ]);
});

test('the former agent is stopped only when no request is in flight on it', async () => {
  const { agents, traffic, inFlight, spec } = fixture();
  const [one, two] = [played('one'), played('two')];
  agents.switchTo(spec, one).commit();
  inFlight.set('http://one', () => {});
  agents.switchTo(spec, two).commit();
  await settled();
  expect([traffic, one.stopped()]).toEqual([['http://one', 'http://two'], false]);
  inFlight.get('http://one')?.();
  await settled();
  expect([traffic.at(-1), one.stopped(), two.stopped()]).toEqual(['closed http://one', true, false]);
});

test('a takeover that is undone switches back to the former agent', async () => {
  const { agents, traffic, spec } = fixture();
  const [one, two] = [played('one'), played('two')];
  agents.switchTo(spec, one).commit();
  agents.switchTo(spec, two).undo();
  await settled();
  expect(traffic).toEqual(['http://one', 'http://two', 'http://one', 'closed http://two']);
  expect([one.stopped(), two.stopped()]).toEqual([false, true]);
});

test('undoing the first takeover leaves nothing live', async () => {
  const { agents, traffic, spec } = fixture();
  const one = played('one');
  agents.switchTo(spec, one).undo();
  await settled();
  expect([traffic, one.stopped()]).toEqual([['http://one', 'nothing', 'closed http://one'], true]);
});

test('restarts an agent that keeps breaking down with exponential backoff', async () => {
  const [one, two] = [played('one'), played('two')];
  const starts: (AgentStart | Error)[] = [
    { kind: 'failed', reason: 'It did not start.' },
    new Error('no space left'),
    { kind: 'running', agent: two },
  ];
  const { agents, traffic, lines, waits, spec } = fixture(starts);
  agents.switchTo(spec, one).commit();
  one.breakDown();
  await settled();
  expect(waits).toEqual([500, 1_000, 2_000]);
  expect(traffic).toEqual(['http://one', 'nothing', 'closed http://one', 'http://two']);
  expect(lines).toEqual([
    "error: The agent's process ended: exit code 1. Restarting it in 0.5 s.",
    'error: It did not start. Restarting it in 1 s.',
    'error: The agent could not be started: no space left. Restarting it in 2 s.',
    'info: The agent serves.',
  ]);
});

test('an agent that was healthy for a minute starts with the shortest wait again', async () => {
  const [one, two, three] = [played('one'), played('two'), played('three')];
  const starts: AgentStart[] = [two, three].map((agent) => ({ kind: 'running', agent }));
  const { agents, waits, recorded, spec, passTime } = fixture(starts);
  agents.switchTo(spec, one).commit();
  one.breakDown();
  await settled();
  passTime(60_000);
  await settled();
  expect(recorded).toEqual(['1: exit code 1 [one said this]', 'well']);
  two.breakDown();
  await settled();
  expect(waits).toEqual([500, 500]);
});

test('gives up after ten breakdowns in a row, with the last output', async () => {
  const one = played('one');
  const starts: AgentStart[] = Array.from({ length: 20 }, () => ({
    kind: 'failed',
    reason: 'It did not start.',
    lastLines: ['no module'],
  }));
  const { agents, recorded, lines, waits, spec, hurry } = fixture(starts);
  hurry();
  agents.switchTo(spec, one).commit();
  one.breakDown();
  while (agents.isSupervised('d')) await settled();
  expect(waits.filter((wait) => wait !== 60_000)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000]);
  expect(recorded).toHaveLength(10);
  expect(recorded.at(-1)).toBe('given up after 10: It did not start [no module]');
  expect(lines.at(-1)).toBe('error: It did not start. It broke down 10 times in a row and is not started again.');
  expect(starts).toHaveLength(11);
});

test('reports a revision from before the start as healthy after a minute too', async () => {
  const { agents, recorded, spec, passTime } = fixture([{ kind: 'running', agent: played('one') }]);
  agents.superviseLive(spec);
  await settled();
  passTime(59_999);
  await settled();
  expect(recorded).toEqual([]);
  passTime(1);
  await settled();
  expect(recorded).toEqual(['well']);
});

test('a newer revision ends the restarts of the former one', async () => {
  const { agents, traffic, spec } = fixture([{ kind: 'failed', reason: 'no' }]);
  const [one, two] = [played('one'), played('two')];
  agents.switchTo(spec, one).commit();
  one.breakDown();
  await settled();
  agents.switchTo(spec, two).commit();
  await settled();
  expect(traffic.at(-1)).toBe('http://two');
});

test('does not start a live agent twice', async () => {
  const { agents, traffic, spec } = fixture([{ kind: 'running', agent: played('other') }]);
  agents.switchTo(spec, played('one')).commit();
  agents.superviseLive(spec);
  await settled();
  expect(traffic).toEqual(['http://one']);
});

test('shutdown stops all agents, and a request in flight delays it only so long', async () => {
  const { agents, traffic, inFlight, spec } = fixture();
  const one = played('one');
  agents.switchTo(spec, one).commit();
  inFlight.set('http://one', () => {});
  await agents.stop(1_000);
  expect(one.stopped()).toBe(true);
  expect(traffic).toEqual(['http://one', 'nothing', 'closed http://one']);
});

test('of many agents, one that a request waits for is started next', async () => {
  const first = Promise.withResolvers<AgentStart>();
  const never = new Promise<AgentStart>(() => {});
  const { agents, spec } = fixture([first.promise, never, never, never, { kind: 'running', agent: played('wanted') }]);
  const served: string[] = [];
  for (const deploymentId of ['1', '2', '3', '4', '5', '6']) {
    agents.superviseLive({
      ...spec,
      deploymentId,
      log: (_level, message) => void (message === 'The agent serves.' && served.push(deploymentId)),
    });
  }
  await settled();
  agents.startNext('6');
  first.resolve({ kind: 'failed', reason: 'It did not start.' });
  await settled();
  expect(served).toEqual(['6']);
});

test('scales an idle agent to zero, and starts it again for a request', async () => {
  const [first, second] = [played('first'), played('second')];
  const { agents, traffic, lines, spec } = fixture([{ kind: 'running', agent: second }]);
  agents.switchTo(spec, first).commit();
  expect(agents.scaleToZero('d')).toBe(true);
  expect([traffic.at(-2), agents.isScaledToZero('d'), agents.isSupervised('d')]).toEqual(['nothing', true, true]);
  expect(agents.scaleToZero('d')).toBe(false);
  await settled();
  expect([first.stopped(), lines.at(-1)]).toEqual([
    true,
    'info: The agent was stopped because nobody used it. The next request starts it again.',
  ]);
  await agents.wake('d');
  expect([traffic.at(-1), agents.isScaledToZero('d'), agents.wake('d')]).toEqual(['http://second', false, undefined]);
  expect(agents.scaleToZero('d')).toBe(true);
});

test('a request for an agent that does not start again is told so, and the agent is retried', async () => {
  const second = played('second');
  const { agents, traffic, spec } = fixture([
    { kind: 'failed', reason: 'It did not start.' },
    { kind: 'running', agent: second },
  ]);
  agents.switchTo(spec, played('first')).commit();
  agents.scaleToZero('d');
  await agents.wake('d');
  expect([traffic.at(-1), agents.isScaledToZero('d'), agents.isSupervised('d')]).not.toContain('http://second');
  await settled();
  expect(traffic.at(-1)).toBe('http://second');
});

test.each(['before its process ended', 'after that'])(
  'a stopped agent is woken, released or replaced %s',
  async (when) => {
    const { agents, traffic, lines, spec } = fixture([]);
    const wait = async (): Promise<void> => (when === 'after that' ? settled() : undefined);
    agents.switchTo(spec, played('first')).commit();
    agents.scaleToZero('d');
    await wait();
    const waiting = agents.wake('d');
    await agents.release('d', 1_000);
    await waiting;
    expect([agents.isSupervised('d'), agents.isScaledToZero('d')]).toEqual([false, false]);

    agents.switchTo(spec, played('second')).commit();
    agents.scaleToZero('d');
    await wait();
    agents.switchTo({ ...spec, revisionId: 'next' }, played('third')).commit();
    await settled();
    expect([traffic.at(-1), agents.isScaledToZero('d'), lines.at(-1)]).toEqual([
      'http://third',
      false,
      expect.stringContaining('info: '),
    ]);
  },
);

test.each([true, false])('an undone switch finds the agent still scaled to zero (stopped: %s)', async (isStopped) => {
  const { agents, traffic, spec } = fixture([{ kind: 'running', agent: played('again') }]);
  agents.switchTo(spec, played('first')).commit();
  agents.scaleToZero('d');
  if (isStopped) await settled();
  agents.switchTo({ ...spec, revisionId: 'next' }, played('second')).undo();
  expect(traffic.at(-1)).toBe('nothing');
  expect(agents.isScaledToZero('d')).toBe(true);
  await agents.wake('d');
  expect(agents.isScaledToZero('d')).toBe(false);
});

test('failed starts between times of rest do not add up', async () => {
  const failed = { kind: 'failed', reason: 'It did not start.' } as const;
  const rounds = Array.from({ length: 12 }, (_, nth) => [
    failed,
    { kind: 'running', agent: played(`${nth}`) } as const,
  ]);
  const { agents, traffic, recorded, spec } = fixture(rounds.flat());
  agents.switchTo(spec, played('first')).commit();
  for (const nth of rounds.keys()) {
    expect(agents.scaleToZero('d')).toBe(true);
    await settled();
    await agents.wake('d');
    await settled();
    expect(traffic.at(-1)).toBe(`http://${nth}`);
  }
  expect(recorded.filter((each) => each.startsWith('given up'))).toEqual([]);
});
