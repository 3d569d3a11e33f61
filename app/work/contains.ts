import { HubError } from '../github/hub.ts';
import type { RepositoryAt } from '../repository.ts';
import type { Work } from './work.ts';

/** Whether `newer` holds everything of `older`; undefined where nobody can tell. @throws HubError, InstallationPaused */
export async function containsCommit(
  { world }: Pick<Work, 'world'>,
  repository: RepositoryAt,
  older: string,
  newer: string,
): Promise<boolean | undefined> {
  if (older === newer) return true;
  const comparison = await world.hub.compare(repository, older, newer);
  return comparison.kind === 'untold' ? comparison.contains : true;
}

/** The same, where it is only told beside something else: a refusal of GitHub leaves it open. @throws InstallationPaused */
export async function mayContain(...asked: Parameters<typeof containsCommit>): Promise<boolean | undefined> {
  try {
    return await containsCommit(...asked);
  } catch (error) {
    if (error instanceof HubError) return undefined;
    throw error;
  }
}
