import { afterDeploy } from '../../src/deploy/machine/after-deploy.ts';
import type { IntentFields, IntentOutcome } from './intent.ts';

/** Whether the commit of an ended deploy goes to the next environment by itself, or why it does not. */
export const promotionAfter = (
  { sending, verdict }: Pick<IntentFields, 'sending' | 'verdict'>,
  end: IntentOutcome,
): ReturnType<typeof afterDeploy> =>
  afterDeploy({
    did: sending.kind === 'redeploy' ? 'restore' : sending.kind === 'test' ? 'test' : 'deploy',
    isLive: end.kind === 'deployed',
    verdict: verdict?.kind,
  });
