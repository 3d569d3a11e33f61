import type { AgentSpec, AgentStart, Compute, WorkLease } from '../../../src/services/control/compute/compute.ts';

/** A start that is under way, until the test ends it. */
export interface Start {
  spec: AgentSpec;
  signal: AbortSignal;
  /** What bounds putting back as well. */
  hold: WorkLease | undefined;
  end(how: 'running' | { failed: string }): void;
  /** It breaks down with what is no reason of its own. */
  breakDown(error: Error): void;
}

/** A compute that a test controls. */
export interface FakeCompute extends Compute {
  starts: Start[];
  removed: { id: string; name: string; namespace: string | undefined }[];
  /** How many removals fail before one goes well. */
  failingRemovals: number;
  /** The next start, or the first one under way. */
  nextStart(): Promise<Start>;
}

/** A start ends at once where `end` was said beforehand, else when the test ends it or its signal aborts. */
export function fakeCompute(always?: 'running' | { failed: string }): FakeCompute {
  const waiting: ((start: Start) => void)[] = [];
  const fresh: Start[] = [];
  const self: FakeCompute = {
    starts: [],
    removed: [],
    failingRemovals: 0,
    start: (spec, signal, hold) =>
      new Promise<AgentStart>((resolve, reject) => {
        const end: Start['end'] = (how) =>
          resolve(how === 'running' ? running : { kind: 'failed', reason: how.failed });
        signal.addEventListener('abort', () => resolve({ kind: 'failed', reason: 'The start was aborted.' }));
        const start = { spec, signal, hold, end, breakDown: reject };
        self.starts.push(start);
        const next = waiting.shift();
        if (next) next(start);
        else fresh.push(start);
        if (always) end(always);
      }),
    remove: async (deployment, hold) => {
      hold?.check();
      if (self.failingRemovals > 0) {
        self.failingRemovals -= 1;
        throw new Error('the cluster is away.');
      }
      self.removed.push(deployment);
    },
    nextStart: () => {
      const start = fresh.shift();
      return start ? Promise.resolve(start) : new Promise((resolve) => waiting.push(resolve));
    },
  };
  return self;
}

const running: AgentStart = {
  kind: 'running',
  agent: { origin: 'http://cluster', token: '', stop: () => Promise.resolve(), exited: new Promise(() => undefined) },
};
