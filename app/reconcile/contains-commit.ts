import { GitHubApiError } from '../github/github-api.ts';
import type { RepositoryAt } from '../context.ts';
import type { ReconcileContext } from './reconcile-context.ts';

/** Whether `newer` contains `older`; undefined if unknown. @throws GitHubApiError, InstallationPaused */
export async function containsCommit(
  { context }: Pick<ReconcileContext, 'context'>,
  repository: RepositoryAt,
  older: string,
  newer: string,
): Promise<boolean | undefined> {
  if (older === newer) return true;
  const comparison = await context.githubApi.compare(repository, older, newer);
  return comparison.kind === 'unavailable' ? comparison.contains : true;
}

/** The same for additional information only: a refusal by GitHub means unknown. @throws InstallationPaused */
export async function mayContain(...requested: Parameters<typeof containsCommit>): Promise<boolean | undefined> {
  try {
    return await containsCommit(...requested);
  } catch (error) {
    if (error instanceof GitHubApiError) return undefined;
    throw error;
  }
}
