import { expect, test } from 'vitest';
import type { AgentSpec, Compute } from '../../../../src/services/control/compute/compute.ts';
import { canResumeAs, idleCompute } from '../../../../src/services/control/compute/idle-compute.ts';
import { plainSpec } from './agents.ts';

const spec = (changes: Partial<AgentSpec> = {}): AgentSpec => ({
  deploymentId: 'd',
  revisionId: 'r-1',
  name: 'agent',
  program: { kind: 'build', sourceText: 'commit 1', folder: '/b', graphConfigFile: '/b/c', homeFolder: '/b/h' },
  databaseUrl: 'postgres://x',
  secrets: [{ name: 'KEY', value: 'one' }],
  ...plainSpec,
  log: () => undefined,
  ...changes,
});

/** A compute whose agents only record their state changes, and a clock whose sleeps end manually. */
function fixture(options: { canResume?: boolean; isIdle?: boolean } = {}) {
  const { canResume = true, isIdle = true } = options;
  const recorded: string[] = [];
  const sleeps: (() => void)[] = [];
  let started = 0;
  const running = (of: number, revisionId: string) => {
    const ended = Promise.withResolvers<string>();
    const end = async (how: string) => {
      recorded.push(`agent ${of} ${how}`);
      ended.resolve(how);
    };
    const agent = (revision: string): Awaited<ReturnType<Compute['start']>> => ({
      kind: 'running',
      agent: {
        origin: `http://agent-${of}`,
        token: revision,
        stop: () => end('stopped'),
        exited: ended.promise,
        makeIdle: async () => {
          if (!isIdle) {
            await end('ended while idling');
            return undefined;
          }
          recorded.push(`agent ${of} is idle`);
          return {
            wake: async (notified) => {
              recorded.push(`agent ${of} resumes as ${notified.revisionId}`);
              return canResume ? agent(notified.revisionId) : { kind: 'failed', reason: 'not resumed' };
            },
            stop: () => end('stopped while idle'),
            exited: ended.promise,
          };
        },
      },
    });
    return agent(revisionId);
  };
  const compute: Compute = {
    start: async ({ revisionId }) => {
      recorded.push(`agent ${(started += 1)} starts as ${revisionId}`);
      return running(started, revisionId);
    },
    remove: async ({ id }) => void recorded.push(`${id} is removed`),
  };
  const clock = {
    now: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleeps.push(resolve);
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  };
  const idle = idleCompute(compute, { clock, maxAgents: 2 });
  const start = async (of: AgentSpec) => {
    const end = await idle.start(of, new AbortController().signal);
    if (end.kind !== 'running') throw new Error(end.reason);
    return end.agent;
  };
  return { idle, start, recorded, sleeps };
}

test('keeps the previous agent idle and resumes it for the same build', async () => {
  const { start, recorded } = fixture();
  const first = await start(spec());
  const second = await start(spec({ revisionId: 'r-2', secrets: [] }));
  await first.stop();
  const third = await start(spec({ revisionId: 'r-3' }));
  await second.stop();
  expect(third).toMatchObject({ origin: 'http://agent-1', token: 'r-3' });
  expect(recorded).toEqual([
    'agent 1 starts as r-1',
    'agent 2 starts as r-2',
    'agent 1 is idle',
    'agent 1 resumes as r-3',
    'agent 2 is idle',
  ]);
});

test('an agent says whether it is idle, and logs when its idle process ends', async () => {
  const { start, sleeps } = fixture();
  const logged: string[] = [];
  const agent = await start(spec({ log: (_, message) => logged.push(message) }));
  expect(agent.isIdle?.()).toBe(false);
  await agent.stop();
  expect([agent.isIdle?.(), logged]).toEqual([true, []]);
  sleeps.at(-1)?.();
  await expect.poll(() => logged).toEqual(['The idle agent was stopped.']);
});

test('an agent that exited or was stopped with a deadline is not idle', async () => {
  const ended = await fixture({ isIdle: false }).start(spec());
  await ended.stop();
  const hurried = await fixture().start(spec());
  await hurried.stop(1_000);
  expect([ended.isIdle?.(), hurried.isIdle?.()]).toEqual([false, false]);
});

test('starts a new agent when the idle one does not resume', async () => {
  const { start, recorded } = fixture({ canResume: false });
  await (await start(spec())).stop();
  await start(spec({ revisionId: 'r-2' }));
  expect(recorded.at(-1)).toBe('agent 2 starts as r-2');
});

test('starts a new agent for a revision that is to be held', async () => {
  const { start, recorded } = fixture();
  await (await start(spec())).stop();
  await start(spec({ revisionId: 'r-2', holdUntil: new Date(0) }));
  expect(recorded.at(-1)).toBe('agent 2 starts as r-2');
});

test.each([
  ['the revision', { revisionId: 'r-2' }, true],
  ['the log', { log: () => undefined }, true],
  ['a hold that is over', { holdUntil: new Date(0) }, true],
  ['a secret', { secrets: [{ name: 'KEY', value: 'two' }] }, false],
  ['the type of the deployment', { deploymentType: 'dev' as const }, false],
  ['the build', { program: { kind: 'image' as const, imageUri: 'x' } }, false],
  ['the user', { user: { uid: 1, gid: 1 } }, false],
])('an idle agent that differs in %s can be resumed: %s', (_what, changes, same) => {
  expect(canResumeAs(spec(), spec(changes))).toBe(same);
});

test('a stop with a deadline, and every stop after close, ends the process', async () => {
  const { idle, start, recorded } = fixture();
  await (await start(spec())).stop(1_000);
  const late = await start(spec({ revisionId: 'r-2' }));
  await idle.close();
  await late.stop();
  expect(recorded.filter((line) => line.includes('stopped'))).toEqual(['agent 1 stopped', 'agent 2 stopped']);
  expect(recorded.some((line) => line.includes('is idle'))).toBe(false);
});

test('stops idle agents on removal, on close, after a while and beyond the limit', async () => {
  const { idle, start, recorded, sleeps } = fixture();
  for (const deploymentId of ['a', 'b', 'c']) await (await start(spec({ deploymentId }))).stop();
  expect(recorded.at(-1)).toBe('agent 1 stopped while idle');
  await idle.remove?.({ id: 'b', name: 'b', namespace: undefined });
  expect(recorded.slice(-2)).toEqual(['agent 2 stopped while idle', 'b is removed']);
  sleeps.at(-1)?.();
  await Promise.resolve();
  await Promise.resolve();
  await expect.poll(() => recorded.at(-1)).toBe('agent 3 stopped while idle');
  await (await start(spec({ deploymentId: 'd' }))).stop();
  await idle.close();
  expect(recorded.at(-1)).toBe('agent 4 stopped while idle');
});

test('does not keep an agent that exits instead of idling', async () => {
  const { start, recorded } = fixture({ isIdle: false });
  await (await start(spec())).stop();
  await start(spec({ revisionId: 'r-2' }));
  expect(recorded).toEqual(['agent 1 starts as r-1', 'agent 1 ended while idling', 'agent 2 starts as r-2']);
});
