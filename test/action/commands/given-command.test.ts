import { describe, expect, test } from 'vitest';
import { readCommand } from '../../../src/action/commands/given-command.ts';

const user = { login: 'mona', id: 5, type: 'User' };
const event = (
  over: { eventName?: string; action?: string; issue?: object; comment?: object; sender?: object } = {},
) => ({
  eventName: over.eventName ?? 'issue_comment',
  payload: {
    action: over.action ?? 'created',
    issue: { number: 7, pull_request: {}, ...over.issue },
    comment: { id: 100, body: '/status', created_at: '2026-03-01T12:00:00Z', user, ...over.comment },
    sender: over.sender ?? user,
  },
});

test('a command has its comment, its person and its time', () => {
  expect(readCommand(event())).toEqual({
    kind: 'given',
    given: {
      number: 7,
      commentId: 100,
      by: { login: 'mona', id: 5 },
      body: '/status',
      parsed: { kind: 'command', command: { name: 'status' } },
      writtenAt: Date.parse('2026-03-01T12:00:00Z'),
    },
  });
});

describe('no command', () => {
  test.each([
    ['an edit', event({ action: 'edited' })],
    ['a deletion', event({ action: 'deleted' })],
    ['a comment on an issue', event({ issue: { pull_request: undefined } })],
    ['a comment on an issue, said by null', event({ issue: { pull_request: null } })],
    ['a comment on code', event({ eventName: 'pull_request_review_comment' })],
    ['a review', event({ eventName: 'pull_request_review' })],
    ['the comment of a bot', event({ comment: { user: { ...user, type: 'Bot' } } })],
    ['the comment of an App for a person', event({ comment: { performed_via_github_app: { id: 1 } } })],
    ['a comment that another one sent', event({ sender: { login: 'eve', id: 6, type: 'User' } })],
    ['the comment of an account that is gone', event({ comment: { user: null } })],
    ['a quote', event({ comment: { body: '> /deploy' } })],
    ['code', event({ comment: { body: '```\n/deploy\n```' } })],
    ['no text', event({ comment: { body: null } })],
    ['no time', event({ comment: { created_at: 'soon' } })],
    ['no number', event({ issue: { number: '7' } })],
    ['nothing', { eventName: 'issue_comment', payload: { action: 'created' } }],
  ])('is %s', (_, given) => {
    expect(readCommand(given)).toEqual({ kind: 'none', why: expect.stringMatching(/^\S.*[^.]$/) });
  });

  test('is an event of another kind, which is a mistake of the workflow', () => {
    expect(readCommand(event({ eventName: 'push' }))).toMatchObject({ kind: 'none', isWrongEvent: true });
  });
});
