import type { Clock } from '../../src/kit/clock.ts';
import type { PullRequestKey } from '../github/github-api.ts';
import type { PreviewStore } from './preview-store.ts';

/**
 * Requests a preview of exactly this commit of a pull request, as a person with write access did: the caller has checked
 * that. It is what lets a commit of a fork run; a later one needs it again. Requested again, the preview is proven again.
 */
export const approvePreview = (
  { previews, clock }: { previews: Pick<PreviewStore, 'notify'>; clock: Pick<Clock, 'now'> },
  { repository, number }: PullRequestKey,
  commit: string,
  by: string,
): Promise<void> =>
  previews.notify(repository, number, { isUnreachable: false, approval: { commit, by, at: clock.now() } });
