import * as fc from 'fast-check';
import { killSteps } from './kill-steps.ts';
import type { Command, History } from './commands.ts';
import { stranger } from './model-hub.ts';
import { promotedCommand, promotedSetting } from './promoted.ts';
import { opened, previewSetting, pullCommand } from '../previews/preview-history.ts';

const after = fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 60_000, max: 600_000 }));

const approve: fc.Arbitrary<Command> = fc.record({
  after,
  do: fc.constant('approve'),
  commit: fc.nat({ max: 3 }),
  arrive: fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 0, maxLength: 2 }),
});

/** A stranger gives a command on production. */
const strangers: fc.Arbitrary<Command> = fc.record({
  after,
  do: fc.constant('comment'),
  name: fc.constantFrom('deploy', 'rollback', 'promote', 'cancel', 'test'),
  deployment: fc.nat({ max: 1 }),
  copies: fc.constant(1),
  by: fc.constant(stranger),
  arrive: fc.tuple(fc.integer({ min: 0, max: 2_000 })),
});

/** A process is killed where the App names a step. */
const killAtStep: fc.Arbitrary<Command> = fc.record({
  after,
  do: fc.constant('kill'),
  process: fc.nat(1),
  cut: fc.record({
    nth: fc.integer({ min: 1, max: 2 }),
    phase: fc.constant('before'),
    operation: fc.constantFrom(...Object.keys(killSteps)),
  }),
  restartAfter: fc.integer({ min: 100, max: 60_000 }),
});

/** A stranger opens a pull request, and a person approves its head, or the commit before a push. */
const fromFork: fc.Arbitrary<Command[]> = fc
  .record({ pull: fc.integer({ min: 1, max: 3 }), after: fc.integer({ min: 0, max: 60_000 }), isPushed: fc.boolean() })
  .map(({ pull, after: ms, isPushed }) => [
    { do: 'open', after: ms, pull, isFork: true, arrive: [0] },
    { do: 'preview', after: ms, pull, names: 'head', by: 'octocat', copies: 1, arrive: [0] },
    ...(isPushed ? [{ do: 'change', after: ms, pull, how: 'push', fate: 'good', arrive: [0] } as const] : []),
  ]);

/** Staging proves a commit, and a reviewer approves what production gets of it. */
const proven: fc.Arbitrary<Command[]> = fc
  .record({ isMerge: fc.boolean(), pull: fc.integer({ min: 1, max: 3 }), after: fc.integer({ min: 0, max: 240_000 }) })
  .map(({ isMerge, pull, after: ms }) => [
    isMerge
      ? { do: 'change', after: ms, pull, how: 'merge', fate: 'good', arrive: [0] }
      : { do: 'push', after: ms, fate: 'good', words: 'plain', paths: 'agent', arrive: [0] },
    { do: 'approve', after: 240_000, commit: 0, arrive: [0] },
  ]);

const single = (one: fc.Arbitrary<Command>): fc.Arbitrary<Command[]> => fc.tuple(one);

/** Histories of previews, promotions and commands together; fast-check shrinks a failing one. */
export const mixedHistories = (maxLength: number): fc.Arbitrary<History> =>
  fc.record({
    setting: fc
      .tuple(promotedSetting, previewSetting, fc.nat({ max: 2 }))
      .map(([drawn, previews, review]) => ({ ...drawn, previews, isReviewed: review === 0 })),
    commands: fc
      .array(
        fc.oneof(
          { weight: 12, arbitrary: single(promotedCommand) },
          { weight: 14, arbitrary: single(pullCommand) },
          { weight: 5, arbitrary: single(opened) },
          { weight: 2, arbitrary: fromFork },
          { weight: 4, arbitrary: proven },
          { weight: 1, arbitrary: single(approve) },
          { weight: 1, arbitrary: single(strangers) },
          { weight: 1, arbitrary: single(killAtStep) },
        ),
        { minLength: 2, maxLength, size: 'max' },
      )
      .map((each) => each.flat()),
  });
