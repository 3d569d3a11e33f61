import type { Verify } from '../file/desired.ts';
import { holdHeader } from '../../contract/control/revision.ts';
import { withoutFullStop } from '../../kit/plain-text.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import type { Coded } from '../../kit/coded.ts';
import type { NoteFacts } from './note.ts';

/** For how long a revision is held for its smoke tests (s); it is discarded then unless it was promoted. */
const holdSeconds = 1_800;

/** When a new revision is tested, and what to say where that is not when it was requested. */
export type Verification = {
  when: Verify;
  holdSeconds?: number;
  note?: Coded<NoteFacts, 'not-offered' | 'refused' | 'unavailable'>;
};

/** Decides when a new revision is tested: before traffic if the service holds revisions, else once it is live. */
export function decideVerification(requested: {
  verify: Verify | undefined;
  /** How many smoke tests there are: without any, nothing decides about a hold. */
  tests: number;
  holds: boolean | undefined;
}): Verification {
  const { verify = 'before-traffic', tests, holds } = requested;
  if (verify === 'after-traffic' || tests === 0) return { when: 'after-traffic' };
  if (holds) return { when: 'before-traffic', holdSeconds };
  return { when: 'after-traffic', ...(requested.verify && { note: { code: 'not-offered', verify } }) };
}

/** Why a write was refused with a hold, in the service's words; undefined where the hold is not the reason. */
export function holdRefusal({
  kind,
  detail,
  problems,
}: Pick<ServiceError, 'kind' | 'detail' | 'problems'>): string | undefined {
  const words = [detail ?? '', ...problems.map(({ msg }) => msg)].find((text) => text.includes(holdHeader));
  return kind === 'rejected' && words !== undefined ? withoutFullStop(words.split(/(?<=\.) /)[0] ?? '') : undefined;
}

/** The service refused to hold the revision: it is tested once it is live. */
export const afterTraffic = (verify: Verify | undefined, text: string): Verification => ({
  when: 'after-traffic',
  ...(verify && { note: { code: 'refused', verify, text } }),
});
