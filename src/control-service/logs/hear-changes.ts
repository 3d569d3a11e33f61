import type { Clock } from '../../clock.ts';
import { retryWhileUnavailable } from '../../postgres/unavailable.ts';
import { listenTo, type Notifications } from '../../postgres/notifications.ts';
import type { ChangeNotifier } from './change-notifier.ts';

/** The channel of the tables' triggers (migration 051). */
const channel = 'landfall_log';

/** Notifies of every committed change of a log or a revision, by any process. */
export const hearChanges = (url: string, notifier: ChangeNotifier, clock: Clock): Promise<Notifications> =>
  retryWhileUnavailable(
    () => listenTo({ url, channel, heard: (id) => notifier.notify(id), heardAgain: () => notifier.notifyAll(), clock }),
    { clock },
  );
