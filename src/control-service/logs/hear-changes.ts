import type { Clock } from '../../clock.ts';
import { retryWhileUnavailable } from '../../postgres/retry-while-unavailable.ts';
import { listenTo, type Notifications } from '../../postgres/notifications.ts';
import type { ChangeBell } from './change-bell.ts';

/** The channel of the tables' triggers (migration 051). */
const channel = 'landfall_log';

/** Rings the bell for every committed change of a log or a revision, by any process. */
export const hearChanges = (url: string, bell: ChangeBell, clock: Clock): Promise<Notifications> =>
  retryWhileUnavailable(
    () => listenTo({ url, channel, heard: (id) => bell.ring(id), heardAgain: () => bell.ringAll(), clock }),
    { clock },
  );
