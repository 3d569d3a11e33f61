import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideTrigger, type TriggerCause, type TriggerInput } from '../../../src/deploy/rules/trigger.ts';
import { decisionWords } from '../../../src/deploy/words/decision.ts';
import type { Decision, RevisionSummary, DeploymentState } from '../../../src/deploy/rules/trigger-types.ts';

const [sha, older, other] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)];
const live = (commit: string | undefined, id = 'r1'): RevisionSummary => ({ id, commit, phase: 'live' });
const coming = (commit: string | undefined, id = 'r2'): RevisionSummary => ({ id, commit, phase: 'on-its-way' });
const ended = (commit: string | undefined, id = 'r2'): RevisionSummary => ({ id, commit, phase: 'ended' });
const hold = { commit: older };
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

/** A decision in one line: its code and its facts, with the first letter of commits. */
function displayed({ kind, code, ...facts }: Decision): string {
  const shown = Object.entries(facts).map(([name, fact]) => `${name}=${String(fact).replace(/^(.)\1{39}$/, '$1')}`);
  return [kind, code, ...shown.toSorted()].join(' ');
}

const message = (text: string): Partial<TriggerInput> => ({ head: { sha, message: text } });
const changed = (...paths: string[]): Partial<TriggerInput> => ({ changed: { kind: 'known', paths }, rules: agents });

describe('a push', () => {
  test.each<[sentence: string, state: DeploymentState, more: Partial<TriggerInput>, decision: string]>([
    ['nothing is live', {}, {}, 'trigger not-live commit=a'],
    ['another commit is live', { live: live(older) }, {}, 'trigger not-live commit=a live=b'],
    ['its commit is live', { live: live(sha) }, {}, 'adopt live commit=a revisionId=r1'],
    [
      'its commit is on its way as the newest',
      { live: live(older), latest: coming(sha) },
      {},
      'adopt on-its-way commit=a revisionId=r2',
    ],
    [
      'its commit is live, and the newest of another one failed',
      { live: live(sha), latest: ended(other) },
      {},
      'adopt live commit=a revisionId=r1',
    ],
    [
      'its commit is live as the newest revision',
      { live: live(older), latest: live(sha, 'r2') },
      {},
      'adopt live commit=a revisionId=r2',
    ],
    [
      'forced back to the commit that is live, while another is on its way',
      { live: live(sha), latest: coming(other) },
      {},
      'wait on-its-way commit=c revisionId=r2',
    ],
    [
      'forced back to an older commit, which was live once',
      { live: live(other) },
      { changed: { kind: 'unavailable', why: 'the branch was forced back' } },
      'trigger not-live commit=a live=c',
    ],
    [
      'forced back, with rules for paths',
      { live: live(other) },
      { changed: { kind: 'unavailable', why: 'the branch was forced back' }, rules: agents },
      'trigger not-live commit=a live=c unread=the branch was forced back',
    ],
    [
      'another revision is on its way',
      { live: live(older), latest: coming(other) },
      {},
      'wait on-its-way commit=c revisionId=r2',
    ],
    [
      'a revision is on its way that does not report its commit yet',
      { live: live(older), latest: coming(undefined) },
      {},
      'wait unreported revisionId=r2',
    ],
    [
      'also where its commit is live',
      { live: live(sha), latest: coming(undefined) },
      {},
      'wait unreported revisionId=r2',
    ],
    [
      'a revision of it failed',
      { live: live(older), latest: ended(sha) },
      {},
      'trigger ended-before commit=a revisionId=r2',
    ],
    ['the live revision does not report its commit', { live: live(undefined) }, {}, 'trigger live-unreported commit=a'],
    ['the service reports abbreviated commits', { live: live('aaaaaaa') }, {}, 'adopt live commit=a revisionId=r1'],
    [
      'its message says a skip word, in whichever letters',
      { live: live(older) },
      message('Fix a typo\n\n[Skip Deploy]'),
      'skip skip-word word=[skip deploy]',
    ],
    [
      'its message says one, and it is live already',
      { live: live(sha) },
      message('[skip deploy]'),
      'adopt live commit=a revisionId=r1',
    ],
    [
      'its message says one while another is on its way',
      { latest: coming(other) },
      message('[skip deploy]'),
      'skip skip-word word=[skip deploy]',
    ],
    ['its message says nearly one', { live: live(older) }, message('skip deploy'), 'trigger not-live commit=a live=b'],
    [
      'there is no skip word',
      { live: live(older) },
      { ...message('[skip deploy]'), rules: { skipWords: [], afterRollback: 'continue' } },
      'trigger not-live commit=a live=b',
    ],
    [
      'its commit was rolled back before',
      { live: live(older), rolledBackCommit: sha },
      {},
      'skip rolled-back-before commit=a',
    ],
    [
      'the commit before it was rolled back',
      { live: live(older), rolledBackCommit: other },
      {},
      'trigger not-live commit=a live=b',
    ],
    [
      'it was rolled back, and is on its way again',
      { live: live(older), latest: coming(sha), rolledBackCommit: sha },
      {},
      'adopt on-its-way commit=a revisionId=r2',
    ],
    ['pushes are held', { live: live(older), held: hold }, {}, 'hold rolled-back commit=b'],
    [
      'pushes are held while another is on its way',
      { live: live(older), latest: coming(other), held: hold },
      {},
      'hold rolled-back commit=b',
    ],
    [
      'pushes are held, and its commit is live',
      { live: live(sha), held: hold },
      {},
      'adopt live commit=a revisionId=r1',
    ],
    [
      'it touches a path that counts',
      { live: live(older) },
      changed('agents/a.py', 'docs/a.md'),
      'trigger not-live commit=a live=b',
    ],
    ['it touches none', { live: live(older) }, changed('docs/a.md'), 'skip paths-untouched paths=1'],
    [
      'it touches none, and another is on its way that may yet fail',
      { live: live(older), latest: coming(other) },
      changed('docs/a.md'),
      'wait on-its-way commit=c revisionId=r2',
    ],
    [
      'it touches none since the live one, and the newest failed',
      { live: live(older), latest: ended(other) },
      changed('docs/a.md'),
      'skip paths-untouched paths=1',
    ],
    [
      'its changed paths were not requested',
      { live: live(older) },
      { rules: agents },
      'trigger not-live commit=a live=b',
    ],
  ])('%s', (_, state, more, decision) => {
    expect(displayed(decideTrigger(requested('push', state, more)))).toBe(decision);
  });
});

describe('what was missed and is found later', () => {
  test.each<[string, DeploymentState, Partial<TriggerInput>, string]>([
    ['is built', { live: live(older) }, {}, 'trigger not-live commit=a live=b missed=true'],
    ['is left where it is live', { live: live(sha) }, {}, 'adopt live commit=a revisionId=r1'],
    [
      'is left where it was rolled back',
      { live: live(older), rolledBackCommit: sha },
      {},
      'skip rolled-back-before commit=a',
    ],
    [
      'is left where its paths do not count',
      { live: live(older) },
      changed('docs/a.md'),
      'skip paths-untouched paths=1',
    ],
    ['is held like every push', { live: live(older), held: hold }, {}, 'hold rolled-back commit=b'],
  ])('%s', (_, state, more, decision) => {
    expect(displayed(decideTrigger(requested('recovery', state, more)))).toBe(decision);
  });
});

describe('a person requests another build', () => {
  const again = 'rerun commit=a';
  const requestedAction = 'redeploy commit=a';
  test.each<[string, TriggerCause, DeploymentState, Partial<TriggerInput>, string]>([
    ['Re-run of a commit that is live', 'rerun', { live: live(sha) }, {}, `trigger ${again}`],
    ['Re-run of one that failed', 'rerun', { live: live(older), latest: ended(sha) }, {}, `trigger ${again}`],
    ['Re-run of one with a skip word', 'rerun', { live: live(older) }, message('[skip deploy]'), `trigger ${again}`],
    ['Re-run of one whose paths do not count', 'rerun', { live: live(older) }, changed('docs/a'), `trigger ${again}`],
    [
      'Re-run of one that was rolled back',
      'rerun',
      { live: live(older), rolledBackCommit: sha },
      {},
      `trigger ${again}`,
    ],
    [
      'Re-run of one that is on its way',
      'rerun',
      { live: live(older), latest: coming(sha) },
      {},
      'adopt on-its-way commit=a revisionId=r2',
    ],
    [
      'Re-run while another is on its way',
      'rerun',
      { live: live(sha), latest: coming(other) },
      {},
      'wait on-its-way commit=c revisionId=r2',
    ],
    ['Re-run while pushes are held', 'rerun', { live: live(older), held: hold }, {}, 'hold rolled-back commit=b'],
    ['Redeploy of a commit that is live', 'redeploy', { live: live(sha) }, {}, `trigger ${requestedAction}`],
    [
      'Redeploy while pushes are held, of what was rolled back',
      'redeploy',
      { live: live(older), held: hold, rolledBackCommit: sha },
      message('[skip deploy]'),
      `trigger ${requestedAction}`,
    ],
    [
      'Redeploy of one that is on its way',
      'redeploy',
      { live: live(older), latest: coming(sha) },
      {},
      'adopt on-its-way commit=a revisionId=r2',
    ],
    [
      'Redeploy while one is on its way that does not report its commit',
      'redeploy',
      { latest: coming(undefined) },
      {},
      'wait unreported revisionId=r2',
    ],
  ])('%s', (_, cause, state, more, decision) => {
    expect(displayed(decideTrigger(requested(cause, state, more)))).toBe(decision);
  });
});

describe('a rollback', () => {
  const back = { live: live(other), held: hold, rolledBackCommit: sha };
  test.each<[string, TriggerCause, DeploymentState, string]>([
    ['that a person requests', 'rollback', back, 'trigger rollback'],
    ['after wrong answers', 'failure', back, 'trigger failure'],
    ['to another revision of the same commit', 'failure', { live: live(sha) }, 'trigger failure'],
    [
      'while another is on its way',
      'failure',
      { live: live(other), latest: coming(older) },
      'wait on-its-way commit=b revisionId=r2',
    ],
    [
      'while one of the same commit is on its way, which may carry other secrets',
      'rollback',
      { live: live(other), latest: coming(sha) },
      'wait on-its-way commit=a revisionId=r2',
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

  test('has a reason that is said in one clause', () => {
    expect(exception((decision) => /^[^\n.]+[^\n.,;\s]$/.test(decisionWords(decision)))).toBeNull();
  });

  test('triggers a push only if its commit is not live', () => {
    expect(
      exception(({ kind }, cause, state) => cause !== 'push' || kind !== 'trigger' || state.live?.commit !== sha),
    ).toBeNull();
  });
});
