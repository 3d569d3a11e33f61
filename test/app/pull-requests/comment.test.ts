import { expect, test } from 'vitest';
import { commentBody } from '../../../app/pull-requests/comment.ts';
import { commentLimitBytes } from '../../../src/github/comment.ts';

test.each([
  [{}, ''],
  [{ preview: 'Open it.' }, 'Open it.'],
  [{ preview: '', answer: 'Done.' }, 'Done.'],
  [{ preview: 'Open it.', answer: 'Done.' }, 'Open it.\n\nDone.'],
])('a comment has the parts that say something: %j', (sections, expected) => {
  expect(commentBody({ number: 7, ...sections })).toBe(expected);
});

test('a long preview leaves the answer whole', () => {
  const preview = Array.from({ length: 9_000 }, (_, line) => `- line ${line}`).join('\n');
  const body = commentBody({ number: 7, preview, answer: 'Done.' });
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(commentLimitBytes);
  expect(body).toMatch(/^- line 0\n/);
  expect(body).toMatch(/The rest is left out[^\n]*\n\nDone\.$/);
});

test('a long answer is cut, too', () => {
  const answer = Array.from({ length: 9_000 }, (_, line) => `- line ${line}`).join('\n');
  const body = commentBody({ number: 7, preview: 'Open it.', answer });
  expect(body).toMatch(/^Open it\.\n\n- line 0\n/);
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(commentLimitBytes);
});
