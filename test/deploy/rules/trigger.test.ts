import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideTrigger, type TriggerCause, type TriggerInput } from '../../../src/deploy/rules/trigger.ts';
import type { Decision, RevisionSummary, DeploymentState } from '../../../src/deploy/rules/trigger-types.ts';

const [sha, older, other] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)];
const live = (commit: string | undefined, id = 'r1'): RevisionSummary => ({ id, commit, phase: 'live' });
const coming = (commit: string | undefined, id = 'r2'): RevisionSummary => ({ id, commit, phase: 'on-its-way' });
const ended = (commit: string | undefined, id = 'r2'): RevisionSummary => ({ id, commit, phase: 'ended' });
const hold = { since: 1, why: 'the last revision was rolled back' };
const agents = {
  skipWords: ['[skip deploy]'],
  afterRollback: 'continue',
  paths: { include: ['agents/**'], exclude: [] },
} as const;

const requested = (cause: TriggerCause, state: DeploymentState, more: Partial<TriggerInput> = {}): TriggerInput => ({
  cause,
  head: { sha, message: 'Answer in verse' },
  state,
  changed: undefined,
  rules: { skipWords: ['[skip deploy]'], afterRollback: 'continue' },
  ...more,
});

/** A decision in one line. */
function displayed(decision: Decision): string {
  switch (decision.kind) {
    case 'adopt':
    case 'wait':
      return `${decision.kind} ${decision.revisionId}: ${decision.why}`;
    case 'skip':
      return `skip (${decision.code}): ${decision.why}`;
    default:
      return `${decision.kind}: ${decision.why}`;
  }
}

const message = (text: string): Partial<TriggerInput> => ({ head: { sha, message: text } });
const changed = (...paths: string[]): Partial<TriggerInput> => ({ changed: { kind: 'known', paths }, rules: agents });

describe('a push', () => {
  test.each<[sentence: string, state: DeploymentState, more: Partial<TriggerInput>, decision: string]>([
    ['nothing is live', {}, {}, 'trigger: commit aaaaaaa is not live, nothing is'],
    ['another commit is live', { live: live(older) }, {}, 'trigger: commit aaaaaaa is not live, bbbbbbb is'],
    ['its commit is live', { live: live(sha) }, {}, 'adopt r1: commit aaaaaaa is live already with revision r1'],
    [
      'its commit is on its way as the newest',
      { live: live(older), latest: coming(sha) },
      {},
      'adopt r2: revision r2 of commit aaaaaaa is on its way already',
    ],
    [
      'its commit is live, and the newest of another one failed',
      { live: live(sha), latest: ended(other) },
      {},
      'adopt r1: commit aaaaaaa is live already with revision r1',
    ],
    [
      'its commit is live as the newest revision',
      { live: live(older), latest: live(sha, 'r2') },
      {},
      'adopt r2: commit aaaaaaa is live already with revision r2',
    ],
    [
      'forced back to the commit that is live, while another is on its way',
      { live: live(sha), latest: coming(other) },
      {},
      'wait r2: revision r2 of commit ccccccc is on its way',
    ],
    [
      'forced back to an older commit, which was live once',
      { live: live(other) },
      { changed: { kind: 'unavailable', why: 'the branch was forced back' } },
      'trigger: commit aaaaaaa is not live, ccccccc is',
    ],
    [
      'forced back, with rules for paths',
      { live: live(other) },
      { changed: { kind: 'unavailable', why: 'the branch was forced back' }, rules: agents },
      'trigger: commit aaaaaaa is not live, ccccccc is; the changed paths are not known (the branch was forced back), so all of them count',
    ],
    [
      'another revision is on its way',
      { live: live(older), latest: coming(other) },
      {},
      'wait r2: revision r2 of commit ccccccc is on its way',
    ],
    [
      'a revision is on its way that does not report its commit yet',
      { live: live(older), latest: coming(undefined) },
      {},
      'wait r2: revision r2 is on its way and does not report its commit yet',
    ],
    [
      'also where its commit is live',
      { live: live(sha), latest: coming(undefined) },
      {},
      'wait r2: revision r2 is on its way and does not report its commit yet',
    ],
    [
      'a revision of it failed',
      { live: live(older), latest: ended(sha) },
      {},
      'trigger: revision r2 of commit aaaaaaa ended without going live',
    ],
    [
      'the live revision does not report its commit',
      { live: live(undefined) },
      {},
      'trigger: the live revision does not report its commit, so aaaaaaa is built to be sure',
    ],
    [
      'the service reports abbreviated commits',
      { live: live('aaaaaaa') },
      {},
      'adopt r1: commit aaaaaaa is live already with revision r1',
    ],
    [
      'its message says a skip word, in whichever letters',
      { live: live(older) },
      message('Fix a typo\n\n[Skip Deploy]'),
      "skip (skip-word): the commit's message says [skip deploy], which keeps it from being deployed",
    ],
    [
      'its message says one, and it is live already',
      { live: live(sha) },
      message('[skip deploy]'),
      'adopt r1: commit aaaaaaa is live already with revision r1',
    ],
    [
      'its message says one while another is on its way',
      { latest: coming(other) },
      message('[skip deploy]'),
      "skip (skip-word): the commit's message says [skip deploy], which keeps it from being deployed",
    ],
    [
      'its message says nearly one',
      { live: live(older) },
      message('skip deploy'),
      'trigger: commit aaaaaaa is not live, bbbbbbb is',
    ],
    [
      'there is no skip word',
      { live: live(older) },
      { ...message('[skip deploy]'), rules: { skipWords: [], afterRollback: 'continue' } },
      'trigger: commit aaaaaaa is not live, bbbbbbb is',
    ],
    [
      'its commit was rolled back before',
      { live: live(older), rolledBackCommit: sha },
      {},
      'skip (rolled-back-before): commit aaaaaaa was rolled back, and is built again only when a person requests it',
    ],
    [
      'the commit before it was rolled back',
      { live: live(older), rolledBackCommit: other },
      {},
      'trigger: commit aaaaaaa is not live, bbbbbbb is',
    ],
    [
      'it was rolled back, and is on its way again',
      { live: live(older), latest: coming(sha), rolledBackCommit: sha },
      {},
      'adopt r2: revision r2 of commit aaaaaaa is on its way already',
    ],
    [
      'pushes are held',
      { live: live(older), held: hold },
      {},
      'hold: the last revision was rolled back, and pushes wait until a person presses Redeploy',
    ],
    [
      'pushes are held while another is on its way',
      { live: live(older), latest: coming(other), held: hold },
      {},
      'hold: the last revision was rolled back, and pushes wait until a person presses Redeploy',
    ],
    [
      'pushes are held, and its commit is live',
      { live: live(sha), held: hold },
      {},
      'adopt r1: commit aaaaaaa is live already with revision r1',
    ],
    [
      'it touches a path that counts',
      { live: live(older) },
      changed('agents/a.py', 'docs/a.md'),
      'trigger: commit aaaaaaa is not live, bbbbbbb is',
    ],
    [
      'it touches none',
      { live: live(older) },
      changed('docs/a.md'),
      'skip (paths-untouched): the one path that changed is not among those that the deploy file counts',
    ],
    [
      'it touches none, and another is on its way that may yet fail',
      { live: live(older), latest: coming(other) },
      changed('docs/a.md'),
      'wait r2: revision r2 of commit ccccccc is on its way',
    ],
    [
      'it touches none since the live one, and the newest failed',
      { live: live(older), latest: ended(other) },
      changed('docs/a.md'),
      'skip (paths-untouched): the one path that changed is not among those that the deploy file counts',
    ],
    [
      'its changed paths were not requested',
      { live: live(older) },
      { rules: agents },
      'trigger: commit aaaaaaa is not live, bbbbbbb is',
    ],
  ])('%s', (_, state, more, decision) => {
    expect(displayed(decideTrigger(requested('push', state, more)))).toBe(decision);
  });
});

describe('what was missed and is found later', () => {
  test.each<[string, DeploymentState, Partial<TriggerInput>, string]>([
    ['is built', { live: live(older) }, {}, 'trigger: commit aaaaaaa is not live, bbbbbbb is, and its push was missed'],
    ['is left where it is live', { live: live(sha) }, {}, 'adopt r1: commit aaaaaaa is live already with revision r1'],
    [
      'is left where it was rolled back',
      { live: live(older), rolledBackCommit: sha },
      {},
      'skip (rolled-back-before): commit aaaaaaa was rolled back, and is built again only when a person requests it',
    ],
    [
      'is left where its paths do not count',
      { live: live(older) },
      changed('docs/a.md'),
      'skip (paths-untouched): the one path that changed is not among those that the deploy file counts',
    ],
    [
      'is held like every push',
      { live: live(older), held: hold },
      {},
      'hold: the last revision was rolled back, and pushes wait until a person presses Redeploy',
    ],
  ])('%s', (_, state, more, decision) => {
    expect(displayed(decideTrigger(requested('recovery', state, more)))).toBe(decision);
  });
});

describe('a person requests another build', () => {
  const again = 'a Re-run was requested, so commit aaaaaaa is built again';
  const requestedAction = 'a person requested Redeploy, so commit aaaaaaa is built again';
  test.each<[string, TriggerCause, DeploymentState, Partial<TriggerInput>, string]>([
    ['Re-run of a commit that is live', 'rerun', { live: live(sha) }, {}, `trigger: ${again}`],
    ['Re-run of one that failed', 'rerun', { live: live(older), latest: ended(sha) }, {}, `trigger: ${again}`],
    ['Re-run of one with a skip word', 'rerun', { live: live(older) }, message('[skip deploy]'), `trigger: ${again}`],
    ['Re-run of one whose paths do not count', 'rerun', { live: live(older) }, changed('docs/a'), `trigger: ${again}`],
    [
      'Re-run of one that was rolled back',
      'rerun',
      { live: live(older), rolledBackCommit: sha },
      {},
      `trigger: ${again}`,
    ],
    [
      'Re-run of one that is on its way',
      'rerun',
      { live: live(older), latest: coming(sha) },
      {},
      'adopt r2: revision r2 of commit aaaaaaa is on its way already',
    ],
    [
      'Re-run while another is on its way',
      'rerun',
      { live: live(sha), latest: coming(other) },
      {},
      'wait r2: revision r2 of commit ccccccc is on its way',
    ],
    [
      'Re-run while pushes are held',
      'rerun',
      { live: live(older), held: hold },
      {},
      'hold: the last revision was rolled back, and pushes wait until a person presses Redeploy',
    ],
    ['Redeploy of a commit that is live', 'redeploy', { live: live(sha) }, {}, `trigger: ${requestedAction}`],
    [
      'Redeploy while pushes are held, of what was rolled back',
      'redeploy',
      { live: live(older), held: hold, rolledBackCommit: sha },
      message('[skip deploy]'),
      `trigger: ${requestedAction}`,
    ],
    [
      'Redeploy of one that is on its way',
      'redeploy',
      { live: live(older), latest: coming(sha) },
      {},
      'adopt r2: revision r2 of commit aaaaaaa is on its way already',
    ],
    [
      'Redeploy while one is on its way that does not report its commit',
      'redeploy',
      { latest: coming(undefined) },
      {},
      'wait r2: revision r2 is on its way and does not report its commit yet',
    ],
  ])('%s', (_, cause, state, more, decision) => {
    expect(displayed(decideTrigger(requested(cause, state, more)))).toBe(decision);
  });
});

describe('a rollback', () => {
  const back = { live: live(other), held: hold, rolledBackCommit: sha };
  test.each<[string, TriggerCause, DeploymentState, string]>([
    ['that a person requests', 'rollback', back, 'trigger: a person requested a rollback to commit aaaaaaa'],
    [
      'after wrong answers',
      'failure',
      back,
      'trigger: the live revision fails its smoke tests, so commit aaaaaaa is brought back',
    ],
    [
      'to another revision of the same commit',
      'failure',
      { live: live(sha) },
      'trigger: the live revision fails its smoke tests, so commit aaaaaaa is brought back',
    ],
    [
      'while another is on its way',
      'failure',
      { live: live(other), latest: coming(older) },
      'wait r2: revision r2 of commit bbbbbbb is on its way',
    ],
    [
      'while one of the same commit is on its way, which may carry other secrets',
      'rollback',
      { live: live(other), latest: coming(sha) },
      'wait r2: revision r2 of commit aaaaaaa is on its way',
    ],
  ])('%s', (_, cause, state, decision) => {
    expect(displayed(decideTrigger(requested(cause, state)))).toBe(decision);
  });
});

const commit = fc.constantFrom(sha, older, other, undefined);
const anyState: fc.Arbitrary<DeploymentState> = fc.record({
  live: fc.option(
    commit.map((each) => live(each)),
    { nil: undefined },
  ),
  latest: fc.option(
    fc.tuple(commit, fc.constantFrom('on-its-way' as const, 'ended' as const)).map(([each, phase]) => ({
      id: 'r2',
      commit: each,
      phase,
    })),
    { nil: undefined },
  ),
  rolledBackCommit: commit,
  held: fc.constantFrom(undefined, hold),
});
const anyCause = fc.constantFrom(
  'push',
  'rerun',
  'redeploy',
  'rollback',
  'recovery',
  'failure',
) satisfies fc.Arbitrary<TriggerCause>;
const anyMore = fc.constantFrom({}, message('[skip deploy]'), changed('docs/a'), changed('agents/a'));

describe('for any state and any cause', () => {
  /** A case in which it does not hold, or null. */
  const exception = (holds: (decision: Decision, cause: TriggerCause, state: DeploymentState) => boolean) =>
    fc.check(
      fc.property(anyCause, anyState, anyMore, (cause, state, more) =>
        holds(decideTrigger(requested(cause, state, more)), cause, state),
      ),
      { numRuns: 1000 },
    ).counterexample;

  test('triggers nothing while a revision is on its way', () => {
    expect(exception(({ kind }, _, { latest }) => latest?.phase !== 'on-its-way' || kind !== 'trigger')).toBeNull();
  });

  test('adopts only a revision of this very commit', () => {
    const commitOf = ({ latest, live: serves }: DeploymentState, id: string) =>
      [latest, serves].find((each) => each?.id === id)?.commit;
    expect(
      exception((decision, _, state) => decision.kind !== 'adopt' || commitOf(state, decision.revisionId) === sha),
    ).toBeNull();
  });

  test('gives the reason as one clause', () => {
    expect(exception(({ why }) => /^[^\n.]+[^\n.,;\s]$/.test(why))).toBeNull();
  });

  test('triggers a push only if its commit is not live', () => {
    expect(
      exception(({ kind }, cause, state) => cause !== 'push' || kind !== 'trigger' || state.live?.commit !== sha),
    ).toBeNull();
  });
});
