import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { approvePreview } from './approve.ts';
import type { PreviewStore } from './preview-store.ts';

/** The check that a person wants again. */
interface RequestedCheck {
  repository: InstallationRepository;
  entry: string;
  number: number;
  headSha: string;
  by: string;
}

/**
 * Proves the preview of a check again, where it is still of its commit: what was refused, or is of another commit by
 * now, is decided anew. No commit of a fork is approved by this that was not before.
 */
export async function provePreviewAgain(
  context: { previews: Pick<PreviewStore, 'preview' | 'notify' | 'renotify'>; clock: Pick<Clock, 'now'> },
  { repository, entry, number, headSha, by }: RequestedCheck,
): Promise<string> {
  const { previews } = context;
  const key = { repositoryId: repository.repositoryId, number };
  const preview = await previews.preview({ ...key, entry });
  if (preview?.wanted.kind === 'deploy' && sameCommit(preview.wanted.commit, headSha)) {
    await approvePreview(context, { repository, number }, preview.wanted.commit, by);
    return `requested the preview of ${entry} for pull request ${number} again`;
  }
  await previews.renotify(key);
  return `looked at the previews of pull request ${number} again`;
}
