import {
  idleAfterHeader,
  maxIdleSeconds,
  minIdleSeconds,
  type IdleAfter,
} from '../../../../contract/control/deployment.ts';
import type { SourceConfigRequest } from '../../../../contract/control/source.ts';
import { accepted, againstRules, type ValidationResult } from '../../validation/refusal.ts';

/** The requested time until an agent is scaled to zero, or why it is refused; undefined where none is requested. */
export function checkIdleAfter(
  idleAfter: IdleAfter | undefined,
  { listener_id: listenerId }: Pick<SourceConfigRequest, 'listener_id'>,
): ValidationResult<IdleAfter | undefined> {
  if (idleAfter === undefined || idleAfter === 'never') return accepted(idleAfter);
  if (!Number.isInteger(idleAfter) || idleAfter < minIdleSeconds || idleAfter > maxIdleSeconds)
    return againstRules([
      `${idleAfterHeader} is no whole number from ${minIdleSeconds} to ${maxIdleSeconds}. Send the seconds, or never.`,
    ]);
  if (listenerId != null)
    return againstRules([
      `An agent in the cluster of a listener is not scaled to zero. Send the change without ${idleAfterHeader}.`,
    ]);
  return accepted(idleAfter);
}
