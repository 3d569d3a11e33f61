import { repositoryParameters, paginate, statusOf, type GitHubClient, type RepositoryName } from './client.ts';
import { withAnswerOf } from './command-answer.ts';
import { rateLimitWaitOf } from './refusal.ts';

/** The pull request that a comment belongs to. */
export interface CommentKey {
  repository: RepositoryName;
  pullRequest: number;
  /** The topic of the comment. Each pull request has one comment per topic. */
  topic: string;
  /** The workflow step that writes it. */
  step?: string | undefined;
  /** Where there is none of the topic, the one that answers commands becomes it. */
  joinsCommands?: boolean | undefined;
}

/** The author of the comments that we may edit. */
export type Author = { kind: 'login'; login: string } | { kind: 'any-bot' };

/** The maximum length of a comment: 65,536 characters on GitHub, less some for the marks. */
export const commentLimitBytes = 65_000;

/** The hidden first line, which identifies the comment by its topic. The topic is escaped, so it can't end the line. */
export const commentMark = (topic: string): string => hiddenMark('landfall', topic);

const markStart = '<!-- landfall: ';

const hiddenMark = (key: string, value: string): string =>
  `<!-- ${key}: ${encodeURIComponent(value.toWellFormed()).replaceAll('-', '%2D')} -->`;

/** The topic of a comment that only answers commands; no deployment has such a name. */
export const commandsTopic = '/commands';

/** The hidden second line, which identifies the comments of a step that failed before its topic was known. */
const stepMark = (step: string): string => hiddenMark('landfall-step', step);

/**
 * Finds the author that this token writes as. A person's token can read its login; the token of an App or a workflow
 * can't, and writes as a bot.
 */
export async function authorOf(client: GitHubClient): Promise<Author> {
  try {
    const { data } = await client.request('GET /user', {});
    return { kind: 'login', login: data.login };
  } catch (error) {
    if (rateLimitWaitOf(error) !== undefined) throw error;
    const status = statusOf(error);
    if (status === 401 || status === 403 || status === 404) return { kind: 'any-bot' };
    throw error;
  }
}

/**
 * Edits our comment about the topic, or creates it. Ignores comments of other authors with our mark. Returns the
 * comment's id.
 *
 * @param known the id of the comment, where it was written before; someone may have deleted it since.
 */
export async function writeComment(
  client: GitHubClient,
  at: CommentKey,
  author: Author,
  body: string,
  known?: number,
): Promise<number> {
  const mark = commentMark(at.topic);
  if (known !== undefined && (await hasEdited(client, at, known, mark, body))) return known;
  const edited = await editCommentOfTopic(client, at, author, body);
  if (edited !== undefined) return edited;
  const { data } = await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...repositoryParameters(at.repository),
    issue_number: at.pullRequest,
    body: withMarks(mark, at, body),
  });
  return Number(data.id);
}

/** Edits our comment about the topic. Returns its id; undefined where there is none. */
export async function editCommentOfTopic(
  client: GitHubClient,
  at: CommentKey,
  author: Author,
  body: string,
): Promise<number | undefined> {
  const mark = commentMark(at.topic);
  let ofCommands: FoundComment | undefined;
  for await (const comment of commentsBy(client, at, author)) {
    if (comment.body.startsWith(mark)) return editComment(client, at, comment, mark, body);
    if (at.joinsCommands && comment.body.startsWith(commentMark(commandsTopic))) ofCommands ??= comment;
  }
  return ofCommands && editComment(client, at, ofCommands, mark, body);
}

/** Edits every comment of the step, for a step that failed before its topic was known. False if there is none. */
export async function editCommentsOfStep(
  client: GitHubClient,
  at: Omit<CommentKey, 'topic'>,
  author: Author,
  body: string,
): Promise<boolean> {
  if (at.step === undefined) return false;
  let isEdited = false;
  for await (const comment of commentsBy(client, at, author)) {
    const [mark = '', stepLine] = comment.body.split(/\r?\n/, 2);
    if (!mark.startsWith(markStart) || stepLine !== stepMark(at.step)) continue;
    await editComment(client, at, comment, mark, body);
    isEdited = true;
  }
  return isEdited;
}

const withMarks = (mark: string, { step }: Pick<CommentKey, 'step'>, body: string): string =>
  [mark, ...(step ? [stepMark(step)] : []), body].join('\n');

/** A comment that we wrote. */
export interface FoundComment {
  id: number;
  body: string;
}

/** Edits a comment. Its answer to commands stays. */
function editComment(
  client: GitHubClient,
  at: Omit<CommentKey, 'topic'>,
  { id, body: before }: FoundComment,
  mark: string,
  body: string,
): Promise<number> {
  return patchComment(client, at, id, withAnswerOf(before, withMarks(mark, at, body)));
}

/** Replaces the whole body of a comment. */
export async function patchComment(
  client: GitHubClient,
  { repository }: Pick<CommentKey, 'repository'>,
  id: number,
  body: string,
): Promise<number> {
  const parameters = { ...repositoryParameters(repository), comment_id: id, body };
  await client.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', parameters);
  return id;
}

/** Edits a comment whose id is known. False if it was deleted. */
async function hasEdited(
  client: GitHubClient,
  at: CommentKey,
  id: number,
  mark: string,
  body: string,
): Promise<boolean> {
  try {
    await patchComment(client, at, id, withMarks(mark, at, body));
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

/** Our comments on a pull request. */
export async function* commentsBy(
  client: GitHubClient,
  { repository, pullRequest }: Omit<CommentKey, 'topic'>,
  author: Author,
): AsyncGenerator<FoundComment> {
  const target = { ...repositoryParameters(repository), issue_number: pullRequest };
  const comments = paginate(async (page) => {
    const parameters = { ...target, ...page };
    return (await client.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', parameters)).data;
  });
  for await (const { id, body, user } of comments)
    if (isWrittenBy(author, user)) yield { id: Number(id), body: body ?? '' };
}

const isWrittenBy = (author: Author, user: { login: string; type: string } | null): boolean =>
  author.kind === 'login' ? user?.login.toLowerCase() === author.login.toLowerCase() : user?.type === 'Bot';
