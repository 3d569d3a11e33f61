import { parseComment } from '../../src/deploy/commands/parse.ts';
import { actionOf, decideOnPayload, ignored, installationRepositoryOf, issueCommentPayload } from './event-payloads.ts';
import type { EventDecision } from './event-types.ts';

/** A command of a person on a pull request. Edits change nothing: what counts is what was written first. */
export function decideIssueComment(payload: unknown): EventDecision {
  if (actionOf(payload) !== 'created') return ignored('only a new comment can be a command');
  return decideOnPayload(issueCommentPayload, payload, ({ issue, comment, sender, ...at }) => {
    const { id: commentId, user, body } = comment;
    if (issue.pull_request === undefined || issue.pull_request === null)
      return ignored('commands are taken on pull requests, and this is an issue');
    if (user?.type !== 'User' || user.id !== sender.id || comment.performed_via_github_app)
      return ignored('commands are taken from people, and an App wrote this comment');
    const parsed = parseComment(body ?? '');
    if (parsed.kind === 'none') return ignored('the comment is not a command');
    const writtenAt = Date.parse(comment.created_at ?? '');
    return {
      kind: 'command',
      repository: installationRepositoryOf(at.repository, at.installation),
      number: issue.number,
      commentId,
      by: { login: user.login, id: user.id },
      parsed,
      isLocked: issue.locked === true,
      ...(Number.isNaN(writtenAt) ? {} : { writtenAt }),
      why: 'a person gave a command',
    };
  });
}
