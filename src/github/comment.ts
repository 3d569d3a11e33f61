import { ofRepository, paginate, statusOf, type GitHubClient, type RepositoryName } from './client.ts';
import { rateLimitWaitOf } from './refusal.ts';

/** The pull request that a comment belongs to. */
export interface CommentKey {
  repository: RepositoryName;
  pullRequest: number;
  /** What the comment is about: one comment is kept for each. */
  about: string;
  /** The step that writes it. */
  step?: string | undefined;
}

/** Who may have written what we may edit. */
export type Author = { kind: 'login'; login: string } | { kind: 'any-bot' };

/** What GitHub takes for a comment: 65,536 characters, of which some are the mark's. */
export const commentLimitBytes = 65_000;

/** The hidden first line by which a comment is found again. Nothing of `about` can end it early. */
export const commentMark = (about: string): string => hidden('landfall', about);

const markStart = '<!-- landfall: ';

const hidden = (key: string, value: string): string =>
  `<!-- ${key}: ${encodeURIComponent(value.toWellFormed()).replaceAll('-', '%2D')} -->`;

/** The hidden second line: it finds the comments of a step that ended before it knew what it is about. */
const stepMark = (step: string): string => hidden('landfall-step', step);

/**
 * The author behind this token: a person's token can read its login; the token of an App or of a workflow can't, and
 * writes as a bot.
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
 * Maintains the one comment about `about`: edits ours on any page, or creates it. A comment of another author with our
 * mark is left alone. Returns the comment's id.
 */
export async function keepComment(client: GitHubClient, at: CommentKey, author: Author, body: string): Promise<number> {
  const mark = commentMark(at.about);
  for await (const comment of commentsBy(client, at, author)) {
    if (comment.body.startsWith(mark)) return editComment(client, at, comment.id, mark, body);
  }
  const { data } = await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...ofRepository(at.repository),
    issue_number: at.pullRequest,
    body: withMarks(mark, at, body),
  });
  return Number(data.id);
}

/** Edits every comment that the same step wrote, where it does not know what it is about; false where there is none. */
export async function editCommentsOfStep(
  client: GitHubClient,
  at: Omit<CommentKey, 'about'>,
  author: Author,
  body: string,
): Promise<boolean> {
  if (at.step === undefined) return false;
  let edited = false;
  for await (const comment of commentsBy(client, at, author)) {
    const [mark = '', second] = comment.body.split(/\r?\n/, 2);
    if (!mark.startsWith(markStart) || second !== stepMark(at.step)) continue;
    await editComment(client, at, comment.id, mark, body);
    edited = true;
  }
  return edited;
}

const withMarks = (mark: string, { step }: Pick<CommentKey, 'step'>, body: string): string =>
  [mark, ...(step ? [stepMark(step)] : []), body].join('\n');

async function editComment(
  client: GitHubClient,
  at: Omit<CommentKey, 'about'>,
  id: number,
  mark: string,
  body: string,
): Promise<number> {
  await client.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
    ...ofRepository(at.repository),
    comment_id: id,
    body: withMarks(mark, at, body),
  });
  return id;
}

async function* commentsBy(
  client: GitHubClient,
  { repository, pullRequest }: Omit<CommentKey, 'about'>,
  author: Author,
): AsyncGenerator<{ id: number; body: string }> {
  const place = { ...ofRepository(repository), issue_number: pullRequest };
  const comments = paginate(async (page) => {
    const parameters = { ...place, ...page };
    return (await client.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', parameters)).data;
  });
  for await (const { id, body, user } of comments) if (isBy(author, user)) yield { id: Number(id), body: body ?? '' };
}

const isBy = (author: Author, user: { login: string; type: string } | null): boolean =>
  author.kind === 'login' ? user?.login.toLowerCase() === author.login.toLowerCase() : user?.type === 'Bot';
