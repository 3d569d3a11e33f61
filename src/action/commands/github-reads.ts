import type { Permission } from '../../deploy/commands/outcomes.ts';
import { repositoryParameters, statusOf, type GitHubClient, type RepositoryName } from '../../github/client.ts';
import { rateLimitWaitOf } from '../../github/refusal.ts';
import type { GivenCommand } from './given-command.ts';

/** What a command is read from, and answered on. */
export interface CommandGitHub {
  client: GitHubClient;
  repository: RepositoryName;
}

/** How a comment is now. */
export type CommentState = 'as-given' | 'edited' | 'gone';

/**
 * Compares the comment with its event. The run may be late, or be started again: what the person wrote first counts
 * only while it is there to be seen.
 */
export async function stateOfComment(
  { commentId: id, number, by, body }: GivenCommand,
  { client, repository }: CommandGitHub,
): Promise<CommentState> {
  const parameters = { ...repositoryParameters(repository), comment_id: id };
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/issues/comments/{comment_id}', parameters),
  );
  if (!found) return 'gone';
  const { data } = found;
  if (Number(data.user?.id) !== by.id || !data.issue_url.endsWith(`/issues/${number}`)) return 'gone';
  return data.body === body && data.created_at === data.updated_at ? 'as-given' : 'edited';
}

const permissions: readonly Permission[] = ['admin', 'write', 'read', 'none'];

/** What a person may do now; undefined where GitHub does not say it. Another person may have the login by now. */
export async function permissionOf(
  { login, id }: GivenCommand['by'],
  { client, repository }: CommandGitHub,
): Promise<Permission | undefined> {
  try {
    const parameters = { ...repositoryParameters(repository), username: login };
    const { data } = await client.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', parameters);
    if (Number(data.user?.id) !== id) return 'none';
    return permissions.find((each) => each === data.permission) ?? 'none';
  } catch (error) {
    if (rateLimitWaitOf(error) !== undefined) throw error;
    const status = statusOf(error);
    if (status === 404) return 'none';
    if (status === 401 || status === 403) return undefined;
    throw error;
  }
}

/** Adds a reaction of ours to a comment. */
export async function react(
  commentId: number,
  content: '+1' | 'confused' | 'eyes',
  { client, repository }: CommandGitHub,
): Promise<void> {
  await client.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
    ...repositoryParameters(repository),
    comment_id: commentId,
    content,
  });
}

/** The text of a file of a commit, by default of the default branch's newest; undefined where there is none to read. */
export async function readFile(
  path: string,
  ref: string | undefined,
  { client, repository }: CommandGitHub,
): Promise<string | undefined> {
  const parameters = { ...repositoryParameters(repository), path, ...(ref === undefined ? {} : { ref }) };
  const found = await unlessMissing(client.request('GET /repos/{owner}/{repo}/contents/{path}', parameters));
  const data = found?.data;
  if (data === undefined || Array.isArray(data) || data.type !== 'file' || !('content' in data)) return undefined;
  return data.encoding === 'base64' ? Buffer.from(data.content, 'base64').toString('utf8') : undefined;
}

async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}
