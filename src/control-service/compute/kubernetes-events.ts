import * as z from 'zod';
import { withoutFullStop } from '../../contract/plain-text.ts';

/** What the cluster noted about a pod. */
export const podEvent = z.looseObject({
  reason: z.string().default(''),
  message: z.string().default(''),
  type: z.string().default(''),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
});
export type PodEvent = z.infer<typeof podEvent>;

/** When it was noted last, as far as the cluster says so; texts of one form, which sort as the times do. */
export const whenNoted = ({ lastTimestamp, eventTime }: PodEvent): string => lastTimestamp ?? eventTime ?? '';

/** The event reasons that name a cause: all others repeat its consequences. */
const causes = new Set(['Failed', 'FailedMount', 'FailedAttachVolume', 'Unhealthy', 'FailedScheduling']);

/** Whether it says more than that something is tried again: `Error: ImagePullBackOff` names a state and no cause. */
export const isInformative = ({ reason, message }: PodEvent): boolean =>
  reason !== 'BackOff' && !/^Error: \w+$/.test(message);

/** Whether it says why a pod does not run. */
export const saysWhy = (event: PodEvent): boolean => causes.has(event.reason) && isInformative(event);

/** Whether it is past where a container has run already. */
export const isOverOnceRun = ({ reason }: PodEvent): boolean =>
  reason === 'FailedScheduling' || reason === 'FailedMount' || reason === 'FailedAttachVolume';

/** As a person reads it. */
export const inWords = ({ reason, message }: PodEvent): string => `${reason}: ${withoutFullStop(message)}.`;
