import { ofRepository, paginate, statusOf, type GitHubClient, type RepositoryName } from './client.ts';

/** The pull request that a comment belongs to. */
export interface CommentKey {
  repository: RepositoryName;
  pullRequest: number;
  /** What the comment is about: one comment is kept for each. */
  about: string;
}

/** Who may have written what we may edit. */
export type Author = { kind: 'login'; login: string } | { kind: 'any-bot' };

/** What GitHub takes for a comment: 65,536 characters, of which some are the mark's. */
export const commentLimitBytes = 65_000;

/** The hidden first line by which a comment is found again. Nothing of `about` can end it early. */
export const commentMark = (about: string): string =>
  `<!-- landfall: ${encodeURIComponent(about).replaceAll('-', '%2D')} -->`;

/**
 * The author behind this token: a person's token can read its login; the token of an App or of a workflow can't, and
 * writes as a bot.
 */
export async function authorOf(client: GitHubClient): Promise<Author> {
  try {
    const { data } = await client.request('GET /user', {});
    return { kind: 'login', login: data.login };
  } catch (error) {
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
  const whole = `${commentMark(at.about)}\n${body}`;
  const there = await findComment(client, at, author);
  const of = ofRepository(at.repository);
  if (there === undefined) {
    const { data } = await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...of,
      issue_number: at.pullRequest,
      body: whole,
    });
    return Number(data.id);
  }
  await client.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
    ...of,
    comment_id: there,
    body: whole,
  });
  return there;
}

async function findComment(client: GitHubClient, at: CommentKey, author: Author): Promise<number | undefined> {
  const mark = commentMark(at.about);
  const place = { ...ofRepository(at.repository), issue_number: at.pullRequest };
  const comments = paginate(async (page) => {
    const parameters = { ...place, ...page };
    return (await client.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', parameters)).data;
  });
  for await (const { id, body, user } of comments) if (body?.startsWith(mark) && isBy(author, user)) return Number(id);
  return undefined;
}

const isBy = (author: Author, user: { login: string; type: string } | null): boolean =>
  author.kind === 'login' ? user?.login.toLowerCase() === author.login.toLowerCase() : user?.type === 'Bot';
