import { expect, test } from 'vitest';
import type { Decision } from '../../../src/deploy/rules/trigger-types.ts';
import { decisionWords, noPushWords } from '../../../src/deploy/words/decision.ts';

const [commit, live, revisionId] = ['a'.repeat(40), 'b'.repeat(40), 'r2'];

const decisions: readonly Decision[] = [
  { kind: 'trigger', code: 'not-live', commit },
  { kind: 'trigger', code: 'not-live', commit, live },
  { kind: 'trigger', code: 'not-live', commit, live, missed: true, unread: 'the branch was rewritten' },
  { kind: 'trigger', code: 'live-unreported', commit },
  { kind: 'trigger', code: 'ended-before', commit, revisionId },
  { kind: 'trigger', code: 'rerun', commit },
  { kind: 'trigger', code: 'redeploy', commit },
  { kind: 'trigger', code: 'rollback' },
  { kind: 'trigger', code: 'failure' },
  { kind: 'trigger', code: 'waited-too-long', revisionId },
  { kind: 'adopt', code: 'live', commit, revisionId },
  { kind: 'adopt', code: 'on-its-way', commit, revisionId },
  { kind: 'wait', code: 'on-its-way', commit, revisionId },
  { kind: 'wait', code: 'unreported', revisionId },
  { kind: 'hold', code: 'rolled-back', commit },
  { kind: 'hold', code: 'rolled-back' },
  { kind: 'skip', code: 'skip-word', word: '[skip deploy]' },
  { kind: 'skip', code: 'paths-untouched', paths: 0 },
  { kind: 'skip', code: 'paths-untouched', paths: 1 },
  { kind: 'skip', code: 'paths-untouched', paths: 2 },
  { kind: 'skip', code: 'rolled-back-before', commit },
  { kind: 'skip', code: 'already-reported', end: 'failed' },
  { kind: 'skip', code: 'serves-already', revisionId },
  { kind: 'skip', code: 'branch-gone', branch: 'main' },
  { kind: 'skip', code: 'not-installed' },
  { kind: 'skip', code: 'other-serves', active: 'r3', broken: revisionId },
  { kind: 'skip', code: 'other-serves', active: null, broken: revisionId },
  { kind: 'skip', code: 'other-on-its-way', revisionId },
  { kind: 'wait', revisionId, why: 'a reason that was stored as words' },
];

test('the reasons of decisions in words', () => {
  expect(decisions.map((each) => `${each.kind}, because ${decisionWords(each)}`)).toMatchInlineSnapshot(`
    [
      "trigger, because commit aaaaaaa is not live, and nothing else is",
      "trigger, because commit bbbbbbb is live, and aaaaaaa is not",
      "trigger, because commit bbbbbbb is live, and aaaaaaa is not, and its push was missed; the changed paths are unknown (the branch was rewritten), so all count",
      "trigger, because the live revision does not report its commit, so aaaaaaa is built to be sure",
      "trigger, because revision r2 of commit aaaaaaa ended without going live",
      "trigger, because a person requested a Re-run, so commit aaaaaaa is built again",
      "trigger, because a person requested Redeploy, so commit aaaaaaa is built again",
      "trigger, because a person requested it",
      "trigger, because the live revision fails its smoke tests",
      "trigger, because revision r2 has been on its way for too long, so the App no longer waits for it",
      "adopt, because commit aaaaaaa is live already with revision r2",
      "adopt, because revision r2 of commit aaaaaaa is on its way already",
      "wait, because revision r2 of commit aaaaaaa is on its way",
      "wait, because revision r2 is on its way and does not report its commit yet",
      "hold, because commit aaaaaaa was rolled back, and pushes wait until a person presses Redeploy",
      "hold, because a person rolled back, and pushes wait until a person presses Redeploy",
      "skip, because the commit message says [skip deploy]",
      "skip, because no file changed since the deployed commit",
      "skip, because the deploy file does not count the one path that changed",
      "skip, because the deploy file counts none of the 2 paths that changed",
      "skip, because commit aaaaaaa was rolled back, and is built again only when a person requests it",
      "skip, because the same commit was requested before and ended failed; press Re-run to build it again",
      "skip, because revision r2 serves already",
      "skip, because the branch main is gone",
      "skip, because the App was removed from the repository",
      "skip, because revision r3 serves by now, not r2",
      "skip, because nothing serves any more",
      "skip, because revision r2 is on its way and takes over",
      "wait, because a reason that was stored as words",
    ]
  `);
  expect(Object.values(noPushWords)).toMatchInlineSnapshot(`
    [
      "it pushes a tag, and tags are not built on push",
      "it does not push a branch",
      "it deletes the branch, so there is nothing to build",
      "the repository is a fork, and branches of forks are not built",
    ]
  `);
});
