import * as z from 'zod';
import { withoutFullStop } from '../../contract/plain-text.ts';

/** An event of the cluster about a pod. */
export const podEvent = z.looseObject({
  reason: z.string().default(''),
  message: z.string().default(''),
  type: z.string().default(''),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
});
export type PodEvent = z.infer<typeof podEvent>;

/** The time of the last occurrence, if known; strings that sort by time. */
export const whenNoted = ({ lastTimestamp, eventTime }: PodEvent): string => lastTimestamp ?? eventTime ?? '';

/** The event reasons that name a cause: all others repeat its consequences. */
const causes = new Set(['Failed', 'FailedMount', 'FailedAttachVolume', 'Unhealthy', 'FailedScheduling']);

/** Whether it says more than that something is retried: `Error: ImagePullBackOff` names a state and no cause. */
export const isInformative = ({ reason, message }: PodEvent): boolean =>
  reason !== 'BackOff' && !/^Error: \w+$/.test(message);

/** Whether it explains why a pod does not run. */
export const saysWhy = (event: PodEvent): boolean => causes.has(event.reason) && isInformative(event);

/** Whether it concerns a container that has run already. */
export const isOverOnceRun = ({ reason }: PodEvent): boolean =>
  reason === 'FailedScheduling' || reason === 'FailedMount' || reason === 'FailedAttachVolume';

/** The event for a person. */
export const inWords = ({ reason, message }: PodEvent): string => `${reason}: ${withoutFullStop(message)}.`;
