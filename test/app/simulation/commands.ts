import * as fc from 'fast-check';
import type { OnFailure } from '../../../src/deploy/file/desired.ts';
import type { SeenCheck } from '../../../src/deploy/rules/after-checks.ts';
import { anyFault, faultKinds, type Fault } from './faults.ts';
import { outcomes, type Fate } from './model-git.ts';
import type { Cut } from './model-process.ts';
import type { PullCommand } from '../previews/preview-history.ts';
import type { Offers } from './offers.ts';
import type { PreviewSetting } from './previewing.ts';

/**
 * When the copies of a delivery arrive (ms after what happened): several are duplicates, long ones reorder, none is
 * lost.
 */
export type Arrivals = readonly number[];

/**
 * One thing that happens in a history, `after` ms after the one before. Indices count from the newest, round and round.
 */
export type Command = { after: number } & (
  | { do: 'push'; fate: Fate; words: 'plain' | 'skip'; paths: 'agent' | 'docs'; arrive: Arrivals }
  /** The branch is forced to stand on a commit that was there before. */
  | { do: 'force'; to: number; arrive: Arrivals }
  | { do: 'delete'; arrive: Arrivals }
  /** A delivery comes again, with the same GUID. */
  | { do: 'redeliver'; which: number }
  | { do: 'rerun'; commit: number; deployment: number; arrive: Arrivals }
  | { do: 'redeploy'; deployment: number; arrive: Arrivals }
  | { do: 'rollback'; deployment: number; arrive: Arrivals }
  /** A person presses Promote on the check of the commit that the deployment serves. */
  | { do: 'promote'; deployment: number; arrive: Arrivals }
  /** A person gives a command in a comment; `copies` of its delivery have GUIDs of their own. */
  | { do: 'comment'; name: CommentName; deployment: number; copies: number; by?: string; arrive: Arrivals }
  /** A workflow's Action restates the ref beside the App. */
  | { do: 'action'; deployment: number }
  /** A person promotes or discards what is held. */
  | { do: 'decide'; deployment: number; decision: 'promoted' | 'discarded' }
  | { do: 'kill'; process: number; cut: Cut; restartAfter: number }
  /** The process stands still for a while in the middle of a call, and then goes on as if nothing had been. */
  | { do: 'stall'; process: number; cut: Cut; forMs: number }
  | { do: 'fault'; fault: Fault }
  /** Checks of others come to a state. */
  | { do: 'checks'; commit: number; names: readonly string[]; state: SeenCheck['state']; arrive: Arrivals }
  /** A reviewer of the second environment presses Approve on the check of a commit there. */
  | { do: 'approve'; commit: number; arrive: Arrivals }
  | PullCommand
);

/** The commands that change something, and one that does not. */
const commentNames = ['deploy', 'rollback', 'promote', 'cancel', 'test', 'status'] as const;
export type CommentName = (typeof commentNames)[number];

/** The setting in which a history is played. */
export interface Setting {
  offers: Offers;
  copies: number;
  deployments: number;
  builder: 'app' | 'service';
  onFailure: OnFailure;
  afterRollback: 'continue' | 'hold';
  smokeTests: boolean;
  /** The tests compare with the live revision. */
  compares?: boolean;
  /** Pushes wait for checks. */
  waits?: boolean;
  /** The second deployment gets what the first has proven. */
  promotes?: boolean;
  /** Nothing arrives by itself in the first environment, or in the second. */
  holding?: 'first' | 'second' | undefined;
  /** Until when the second environment is frozen (ms after the begin). */
  frozenMs?: number | undefined;
  /** The second environment has reviewers at GitHub. */
  isReviewed?: boolean;
  /** Pull requests have previews. */
  previews?: PreviewSetting | undefined;
  /** Draws latencies and how long builds take. */
  seed: number;
}

/** A history: its setting and its commands. */
export interface History {
  setting: Setting;
  commands: readonly Command[];
}

export const soon = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 240_000 }) },
);
const arrive = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.integer({ min: 0, max: 500 })) },
  { weight: 3, arbitrary: fc.array(soon, { minLength: 0, maxLength: 3 }) },
);
const index = fc.nat({ max: 7 });
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('good') },
  { weight: 4, arbitrary: fc.constantFrom(...outcomes) },
);
const cut = (operations: readonly string[]): fc.Arbitrary<Cut> =>
  fc.oneof(
    fc.record({ nth: fc.integer({ min: 1, max: 40 }), phase: fc.constantFrom('before', 'after') }),
    fc.record({
      nth: fc.integer({ min: 1, max: 3 }),
      phase: fc.constantFrom('before', 'after'),
      operation: fc.constantFrom(...operations),
    }),
  );
const cutAt = cut([
  'patchDeployment',
  'redeployRevision',
  'promoteRevision',
  'discardRevision',
  'save',
  'writeCheck',
  'reported',
  'request',
  'leaveLease',
  'head',
  'measure',
  'takeCommand',
  'decideCommand',
  'endCommand',
  'putReport',
  'writeComment',
]);

const fault: fc.Arbitrary<Fault> = fc.oneof(
  anyFault,
  fc.record({
    party: fc.constant('control'),
    operation: fc.constantFrom('patchDeployment', 'redeployRevision', 'promoteRevision', 'discardRevision'),
    nth: fc.integer({ min: 1, max: 3 }),
    kind: fc.constantFrom(...faultKinds),
  }),
  fc.record({
    party: fc.constant('githubApi'),
    operation: fc.constantFrom('writeCheck', 'head', 'compare'),
    nth: fc.integer({ min: 1, max: 4 }),
    kind: fc.constantFrom(...faultKinds),
  }),
);

export const command = (after: fc.Arbitrary<number>): fc.Arbitrary<Command> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        after,
        do: fc.constant('push'),
        fate,
        words: fc.oneof({ weight: 9, arbitrary: fc.constant('plain') }, { weight: 1, arbitrary: fc.constant('skip') }),
        paths: fc.oneof({ weight: 8, arbitrary: fc.constant('agent') }, { weight: 2, arbitrary: fc.constant('docs') }),
        arrive,
      }),
    },
    { weight: 3, arbitrary: fc.record({ after, do: fc.constant('force'), to: index, arrive }) },
    { weight: 1, arbitrary: fc.record({ after, do: fc.constant('delete'), arrive }) },
    { weight: 2, arbitrary: fc.record({ after, do: fc.constant('redeliver'), which: index }) },
    { weight: 2, arbitrary: fc.record({ after, do: fc.constant('rerun'), commit: index, deployment: index, arrive }) },
    { weight: 1, arbitrary: fc.record({ after, do: fc.constant('redeploy'), deployment: index, arrive }) },
    { weight: 1, arbitrary: fc.record({ after, do: fc.constant('rollback'), deployment: index, arrive }) },
    { weight: 2, arbitrary: fc.record({ after, do: fc.constant('action'), deployment: index }) },
    {
      weight: 1,
      arbitrary: fc.record({
        after,
        do: fc.constant('decide'),
        deployment: index,
        decision: fc.constantFrom('promoted', 'discarded'),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        after,
        do: fc.constant('kill'),
        process: index,
        cut: cutAt,
        restartAfter: fc.integer({ min: 100, max: 90_000 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        after,
        do: fc.constant('stall'),
        process: index,
        cut: cutAt,
        forMs: fc.integer({ min: 100, max: 300_000 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ after, do: fc.constant('fault'), fault }) },
  );

export const setting: fc.Arbitrary<Setting> = fc.record({
  offers: fc.record({
    idempotencyKeys: fc.boolean(),
    ifMatch: fc.boolean(),
    lists: fc.boolean(),
    holds: fc.boolean(),
  }),
  copies: fc.integer({ min: 1, max: 2 }),
  deployments: fc.integer({ min: 1, max: 2 }),
  builder: fc.oneof({ weight: 5, arbitrary: fc.constant('app') }, { weight: 1, arbitrary: fc.constant('service') }),
  onFailure: fc.constantFrom('keep', 'rollback'),
  afterRollback: fc.constantFrom('continue', 'hold'),
  smokeTests: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  seed: fc.nat({ max: 999_999 }),
  compares: fc.boolean(),
});

export const comment = fc.record({
  after: soon,
  do: fc.constant('comment'),
  name: fc.constantFrom(...commentNames),
  deployment: index,
  copies: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 3 }) }),
  arrive,
});

/** Histories in which about half of what happens are commands in comments. */
export const commentHistories = (maxCommands: number): fc.Arbitrary<History> =>
  fc.record({
    setting: setting.map((drawn) => ({ ...drawn, builder: 'app' as const })),
    commands: fc.array(fc.oneof(command(soon), comment), { minLength: 1, maxLength: maxCommands }),
  });

/** Histories of up to `maxCommands` commands; fast-check shrinks a failing one. */
export const histories = (maxCommands: number): fc.Arbitrary<History> =>
  fc.record({ setting, commands: fc.array(command(soon), { minLength: 1, maxLength: maxCommands }) });

const lostAnswer: fc.Arbitrary<Command> = fc.record({
  after: soon,
  do: fc.constant('fault'),
  fault: fc.record({
    party: fc.constantFrom('control', 'githubApi'),
    operation: fc.constantFrom('patchDeployment', 'writeCheck'),
    nth: fc.integer({ min: 1, max: 2 }),
    kind: fc.constantFrom('lost-after', 'broken-before'),
  }),
});
const anyPush: fc.Arbitrary<Command> = fc.record({
  after: soon,
  do: fc.constant('push'),
  fate: fc.constantFrom(...outcomes),
  words: fc.constant('plain'),
  paths: fc.constant('agent'),
  arrive: fc.tuple(fc.integer({ min: 0, max: 500 })),
});

/** Short histories in which little happens but pushes and answers that get lost, on a service without keys. */
export const faultyHistories: fc.Arbitrary<History> = fc.record({
  setting: setting.map((held) => ({
    ...held,
    builder: 'app' as const,
    deployments: 1,
    offers: { idempotencyKeys: false, ifMatch: false, lists: false },
  })),
  commands: fc.array(fc.oneof(lostAnswer, anyPush), { minLength: 2, maxLength: 8 }),
});
