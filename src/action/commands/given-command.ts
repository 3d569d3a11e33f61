import { parseComment, type ParsedComment } from '../../deploy/commands/parse.ts';
import { timeOf } from '../../deploy/commands/decide.ts';
import type { RunEvent } from '../run-event.ts';
import { numberOf, textAt, valueAt } from '../workflow.ts';

/** A command as the event of its comment has it. Nothing of it has been checked yet. */
export interface GivenCommand {
  number: number;
  commentId: number;
  by: { login: string; id: number };
  /** The whole comment. */
  body: string;
  parsed: Exclude<ParsedComment, { kind: 'none' }>;
  /** ms since the epoch */
  writtenAt: number;
}

/** A command, or a clause about why the event is none. */
export type ReadCommand = { kind: 'given'; given: GivenCommand } | { kind: 'none'; why: string; isWrongEvent?: true };

const none = (why: string): ReadCommand => ({ kind: 'none', why });

/** Events of comments that are no commands. */
const passedOver = new Set([
  'pull_request_review_comment',
  'pull_request_review',
  'commit_comment',
  'discussion_comment',
]);

/** Reads the command that a person gave in a new comment on a pull request, by the rules of the App. */
export function readCommand({ eventName, payload }: Pick<RunEvent, 'eventName' | 'payload'>): ReadCommand {
  if (passedOver.has(eventName))
    return none('commands are taken from comments on pull requests, not from those on code');
  if (eventName !== 'issue_comment')
    return { kind: 'none', why: 'mode command needs a workflow on issue_comment', isWrongEvent: true };
  if (payload['action'] !== 'created') return none('only a new comment can be a command');
  const { issue, comment, sender } = payload;
  const number = numberOf(issue);
  if (number === undefined || !isPresent(valueAt(issue, 'pull_request')))
    return none('commands are taken on pull requests, and this is an issue');
  const user = valueAt(comment, 'user');
  const [login, id] = [textAt(user, 'login'), valueAt(user, 'id')];
  const isPerson = valueAt(user, 'type') === 'User' && !isPresent(valueAt(comment, 'performed_via_github_app'));
  if (login === undefined || typeof id !== 'number' || !isPerson || id !== valueAt(sender, 'id'))
    return none('commands are taken from people, and a program wrote this comment');
  const body = textAt(comment, 'body') ?? '';
  const parsed = parseComment(body);
  if (parsed.kind === 'none') return none('the comment is not a command');
  const [commentId, writtenAt] = [valueAt(comment, 'id'), timeOf(textAt(comment, 'created_at'))];
  if (typeof commentId !== 'number' || writtenAt === undefined)
    return none('the event does not say which comment it is');
  return { kind: 'given', given: { number, commentId, by: { login, id }, body, parsed, writtenAt } };
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;
