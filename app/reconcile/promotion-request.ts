import type { LaterTarget } from '../context.ts';
import type { DeployRequest, PromotedFrom } from './deploy-request.ts';

/** What is promoted, where the commits come from, and why. */
type Promoted = Pick<DeployRequest, 'repository' | 'branch' | 'commit' | 'cause'> & { from: PromotedFrom };

/** A request on a deployment of a later environment. Its branch is that of the first one, from which its commits come. */
export const promotionRequest = (
  { deploymentId, terms, repoRef }: LaterTarget,
  { from, ...requested }: Promoted,
): DeployRequest => ({ deploymentId, terms, ...requested, sending: { kind: 'promote', repoRef, from } });
