import { describe, expect, test } from 'vitest';
import { nothingToDeploy, putCommitCheck, subjectOf, withNote } from '../../../app/events/commit-check.ts';
import { checkReport, commitCheckName, type CheckSubject } from '../../../app/reconcile/report.ts';
import { checkLimitBytes } from '../../../src/deploy/words/summary.ts';
import { MemoryStore } from '../reconcile/memory-store.ts';

/** Texts of which a character is longer as bytes, or as Markdown. */
const long = [
  ['of three bytes a character', '数'],
  ['of four bytes a character', '😀'],
  ['of markup', '`*`'],
] as const;

describe('a summary of the check of a commit', () => {
  test.each(long)('keeps to what GitHub takes with names %s', (_, sign) => {
    const refused = Array.from({ length: 60 }, () => ({ deployment: sign.repeat(250), why: sign.repeat(500) }));
    const { summary } = nothingToDeploy('no deployment is built from it', refused, 0, 'A hint.');
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(checkLimitBytes);
    expect(summary).toMatch(/^No deployment is built from it\.\n\nA hint\.\n\nNot acted upon:\n\n- /);
    expect(summary).toContain('left out');
  });
});

describe('a stored check of a commit', () => {
  const repository = { installationId: 1, repositoryId: 7, owner: 'acme', name: 'agent' };
  const at = { repository, headSha: 'a'.repeat(40), name: commitCheckName };
  const check = (title: string, summary = 'Look.') => ({ ...nothingToDeploy('', [], 0), title, summary });
  const mark = '<!-- landfall: pull request 30 -->';
  const pull = { kind: 'pull-request', number: 3 } as const;

  test.each<[string, string, string, CheckSubject | undefined, CheckSubject | undefined]>([
    ['its subject, whatever its words', 'Another title', mark, pull, pull],
    ['a former title', 'Some deployments are not acted upon', 'Look.', undefined, { kind: 'commit' }],
    ['a former mark', '2 problems', `${mark}\nLook.`, undefined, { kind: 'pull-request', number: 30 }],
    [
      'a former mark below a note',
      '2 problems',
      withNote(mark, 'No.'),
      undefined,
      { kind: 'pull-request', number: 30 },
    ],
    ['nothing that is known', '2 problems', 'Look.', undefined, undefined],
  ])('is classified by %s', (_, title, summary, subject, expected) =>
    expect(subjectOf(checkReport(at, check(title, summary), subject).wanted)).toEqual(expected),
  );

  test.each([
    ['replaces its own, whatever its title', { kind: 'commit' } as const, 'New'],
    ["leaves a pull request's, whatever its title", pull, 'Nothing to deploy'],
  ])('%s', async (_, subject, title) => {
    const store = new MemoryStore({ now: () => 0 });
    await store.putReport(checkReport(at, check('Nothing to deploy'), subject));
    await putCommitCheck({ store }, at, check('New'));
    expect((await store.reportOf(7, at.headSha, at.name))?.wanted.content).toMatchObject({ title });
  });

  test('is written once while only the time changes, except on a re-run', async () => {
    const store = new MemoryStore({ now: () => 0 });
    const put = (now: number, again = false) => putCommitCheck({ store }, at, nothingToDeploy('no', [], now), again);
    const version = async () => (await store.reportOf(7, at.headSha, at.name))?.version;
    await put(1);
    await put(2);
    expect(await version()).toBe(1);
    await put(3, true);
    expect(await version()).toBe(2);
  });
});
