import { expect, test } from 'vitest';
import { type Note, withNotesOnce } from '../../../src/deploy/rules/note.ts';
import { noteText } from '../../../src/deploy/words/note.ts';

const verify = 'before-traffic';
const refused = { code: 'refused', verify, text: 'A revision of an image can not be held' } as const;

test.each<[Note, string]>([
  [
    { code: 'not-offered', verify },
    'verify: before-traffic is not possible: this service does not hold revisions. The revision is tested once it is live',
  ],
  [
    refused,
    'verify: before-traffic is not possible: A revision of an image can not be held. The revision is tested once it is live',
  ],
  [{ code: 'unavailable', text: 'no response' }, 'The revision is tested once it is live: no response'],
  [
    { code: 'answers-kept', tests: 1, revisionId: 'r1', oldest: '2026-01-01' },
    '1 smoke test is compared with answers of the live revision r1 that were kept, the oldest from 2026-01-01',
  ],
  [
    { code: 'answers-too-few', tests: 2, fewest: 10, revisionId: 'r1' },
    '2 smoke tests prove nothing, because the live revision r1 gave fewer than 10 answers before the change',
  ],
  [
    { code: 'decided-otherwise', revisionId: 'r2', decision: 'promoted', hold: 'discarded' },
    'revision r2 was to be promoted, but it was discarded before',
  ],
  [{ code: 'log-unread', log: 'build' }, 'this service does not offer build logs'],
  [{ code: 'log-unread', log: 'build', text: 'no response' }, 'the build log could not be read: no response'],
  [{ code: 'build-warning', warning: 'It lacks a file. Commit it.' }, 'the build warns: It lacks a file. Commit it.'],
  [{ code: 'build-warning', warning: 'There is no lock file' }, 'the build warns: There is no lock file.'],
  [{ code: 'file', text: 'as it is' }, 'as it is'],
  [{ code: 'folder-unseen' }, 'what would be uploaded is not known here: the folder was not looked at'],
])('words the note %j', (note, text) => expect(noteText(note)).toBe(text));

test('a note is there once by its code and facts; notes stored as sentences stay', () => {
  const stored = ['the file names it twice', refused];
  const other = { ...refused, text: 'Not now' };
  expect(withNotesOnce<Note | string>(stored, [{ ...refused }, other, 'the file names it twice'])).toEqual([
    ...stored,
    other,
  ]);
});
