// The invariants can fail: each of these Apps is wrong in one way, and a history is found that shows it.
import { describe, expect, test } from 'vitest';
import type { Baseline, Changes, Lease, WorkStore } from '../../../app/reconcile/store.ts';
import type { AppContext } from '../../../app/context.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { appCode } from './app-code.ts';
import { histories, faultyHistories } from './commands.ts';
import { gatedHistories } from './gated.ts';
import type { Code } from './simulation.ts';
import { gates } from './terms.ts';
import { searched } from './searched.ts';

/** An object some of whose methods are others. */
function but<T extends object>(object: T, others: Partial<T>): T {
  return new Proxy(object, {
    get: (target, name) => {
      const other: unknown = Reflect.get(others, name, others);
      if (other !== undefined) return other;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function'
        ? (...given: unknown[]): unknown => Reflect.apply(member, target, given)
        : member;
    },
  });
}

const withContext = (change: (context: AppContext) => AppContext): Code => ({
  ...appCode,
  deploymentQueue: (deploymentId, context, signal) => appCode.deploymentQueue(deploymentId, change(context), signal),
});
const withStore = (change: (store: WorkStore) => Partial<WorkStore>): Code => ({
  ...appCode,
  makeStore: (clock, send) => {
    const store = appCode.makeStore(clock, send);
    return but(store, change(store));
  },
});

/** The intent to send is only in the process' memory until the answer is there. */
const forgetful = withStore((store) => ({
  save: (lease: Lease, changes: Changes) =>
    store.save(lease, { ...changes, intents: changes.intents?.filter(({ state }) => state !== 'sending') ?? [] }),
}));

/** A request without an answer is sent again at once, as stock clients do, and without a key. */
const blindlyRepeating = withContext((context) => ({
  ...context,
  control: but(context.control, {
    patchDeployment: async (id, request, options) => {
      const { idempotencyKey: _, ...keyless } = options ?? {};
      try {
        return await context.control.patchDeployment(id, request, options);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.effect === 'none') throw error;
        return context.control.patchDeployment(id, request, {
          ...keyless,
          ifLatest: undefined,
          idempotencyKey: `${options?.idempotencyKey}`,
        });
      }
    },
  }),
}));

/** Every caller gets the lease, and none ever loses it. */
const unlocked = withStore((store) => {
  const holders = new Map<string, string>();
  return {
    takeLease: async (deploymentId, holder, leaseMs) => {
      const lease = await store.takeLease(deploymentId, holders.get(deploymentId) ?? holder, leaseMs);
      if (lease) holders.set(deploymentId, lease.holder);
      return lease ?? { deploymentId, holder: holders.get(deploymentId) ?? holder, notifiedSeq: 0 };
    },
  };
});

/** A delivery whose handler fails counts as done. */
const careless: Code = {
  ...appCode,
  deliver: (delivery, context) => appCode.deliver(delivery, context).catch(() => []),
};

/** Reports without a response from GitHub count as sent. */
const mumbling: Code = {
  ...appCode,
  report: async (data, context, send) => {
    const { githubApi } = context;
    const quiet = but(githubApi, {
      writeCheck: (at, id, content) => githubApi.writeCheck(at, id, content).catch(() => id ?? 1),
    });
    return appCode.report(data, { ...context, githubApi: quiet }, send);
  },
};

/** A request that arrives while another is open on its deployment is dropped. */
const impatient = withStore((store) => ({
  request: async (request) =>
    (await store.openIntents(request.deploymentId)).length > 0 ? undefined : store.request(request),
}));

/** What failed is promoted. */
const promoting = withContext((context) => ({
  ...context,
  control: but(context.control, { discardRevision: (...given) => context.control.promoteRevision(...given) }),
}));

/** What is unproven counts as passed. */
const trusting = withContext((context) => ({
  ...context,
  smoke: but(context.smoke, {
    advance: async (...given) => {
      const result = await context.smoke.advance(...given);
      if (result.kind !== 'done' || result.verdict.kind !== 'unproven') return result;
      return { kind: 'done', verdict: { ...result.verdict, kind: 'passed' } };
    },
  }),
}));

/** Kept answers are found whatever `isSame` says that they are of. */
const confusing = (isSame: (kept: Baseline, revisionId: string, testHash: string) => boolean): Code =>
  withStore((store) => {
    const kept: Baseline[] = [];
    return {
      save: async (lease, changes) => {
        await store.save(lease, changes);
        kept.unshift(...(changes.baselines ?? []));
      },
      baselines: async (_, revisionId, testHashes) =>
        testHashes.flatMap((testHash) => {
          const found = kept.find((each) => isSame(each, revisionId, testHash));
          return found ? [{ ...found, revisionId, testHash }] : [];
        }),
    };
  });

/** What was measured for a commit that is superseded stays at the agent. */
const untidy = withContext((context) => ({
  ...context,
  smoke: but(context.smoke, { cleanUp: async () => undefined }),
}));

/** Checks are seen in another state than they have. */
const misseeing = (state: 'passed' | 'pending') =>
  withContext((context) => ({
    ...context,
    githubApi: but(context.githubApi, { checksOf: async () => ({ seen: gates.map((name) => ({ name, state })) }) }),
  }));

describe('an invariant fails if', () => {
  test.each<[string, Code, typeof faultyHistories, RegExp]>([
    ['the intent is not stored before it is sent', forgetful, faultyHistories, /made 2 revisions|was built although/],
    ['a request without a response is sent again blindly', blindlyRepeating, faultyHistories, /made 2 revisions/],
    [
      'any process may work on a deployment at any time',
      unlocked,
      histories(10),
      /made 2 revisions|was built although/,
    ],
    ['a delivery counts as done when its handler fails', careless, histories(10), /was acknowledged without a result/],
    ['a check counts as sent without a response', mumbling, faultyHistories, /^the check .* stays/],
    ['a push is dropped while another is built', impatient, faultyHistories, /has no check/],
    ['a held revision that failed is promoted', promoting, histories(10), /fails, and was promoted/],
    [
      'the baseline of another revision is taken',
      confusing((kept, _, testHash) => kept.testHash === testHash),
      histories(10),
      /is compared with/,
    ],
    [
      'the baseline of another test is taken',
      confusing((kept, revisionId) => kept.revisionId === revisionId),
      histories(10),
      /is compared with/,
    ],
    ['what measuring made is not removed', untidy, histories(10), /is left at an agent/],
    ['a push does not wait for its checks', misseeing('passed'), gatedHistories(8), /was made before its checks/],
    ['checks that pass are not seen', misseeing('pending'), gatedHistories(8), /its checks had passed in time/],
    ['a held revision that is unproven is promoted', trusting, histories(10), /proves nothing, and was promoted/],
  ])('%s', { timeout: 600_000 }, async (_, code, played, found) => {
    const { reported } = await searched(played, code, { numRuns: 2_000, endOnFailure: true, seed: 1 }, found);
    expect(reported).toMatch(found);
  });
});
