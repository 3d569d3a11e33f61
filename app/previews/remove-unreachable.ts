import type { Clock } from '../../src/kit/clock.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { PreviewStore } from './preview-store.ts';

/**
 * Has the previews of repositories removed that the App can't reach any more.
 *
 * @returns of how many pull requests
 */
export async function removeUnreachable(
  previews: Pick<PreviewStore, 'renotify' | 'openPulls'>,
  clock: Pick<Clock, 'now'>,
  isGone: (repository: InstallationRepository) => boolean,
): Promise<number> {
  const pulls = (await previews.openPulls(clock.now())).filter(({ repository }) => isGone(repository));
  for (const pull of pulls) await previews.renotify(pull, { isUnreachable: true });
  return pulls.length;
}
