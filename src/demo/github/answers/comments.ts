import { isObject } from '../../../kit/json-object.ts';
import { Refusal, textAt, type JsonObject } from '../exchange.ts';
import { nodeId, repositoryFor, utc, type Handler } from '../state.ts';
import { handOn } from '../pull-requests.ts';
import { accountAnswer, botOf } from './accounts.ts';

/** Reads a comment. The emulator changes a new one once more by itself, which is no edit: GitHub counts seconds. */
export const readComment: Handler = async (call, state) => {
  const { status, body } = await handOn(call, state);
  if (!isObject(body)) return { status, body };
  const [created, updated] = [textAt(body, 'created_at') ?? '', textAt(body, 'updated_at') ?? ''];
  const isEdited = Date.parse(updated) - Date.parse(created) >= 1_000;
  return { status, body: { ...body, updated_at: isEdited ? updated : created } };
};

/** Reacts to a comment; the same reaction again changes nothing. */
export const createReaction: Handler = async (call, state) => {
  await repositoryFor(state, call, 'pull_requests', 'write');
  const content = textAt(call.body, 'content');
  if (content === undefined) throw new Refusal(422, 'Validation Failed');
  const commentId = Number(call.params['comment_id']);
  const former = state.reactions.get(commentId) ?? [];
  const isNew = !former.includes(content);
  if (isNew) state.reactions.set(commentId, [...former, content]);
  const id = commentId * 10 + former.length;
  const user = accountAnswer(state, botOf(state));
  const reaction = { id, node_id: nodeId('Reaction', id), user, content, created_at: utc(Date.now()) };
  return { status: isNew ? 201 : 200, body: reaction };
};

/** The comment as its event has it. */
export const commentInEvent = (comment: unknown): JsonObject => ({
  ...(isObject(comment) ? comment : {}),
  performed_via_github_app: null,
});
