import type { AppContext } from '../context.ts';
import { onBranchDeleted, onCheckSuite, onMergeGroup, onNothingToBuild, onPullRequest, onPush } from './commits.ts';
import { decideEvent } from './event-decision.ts';
import type { EventDecision } from './event-types.ts';
import { formatDecision } from './format-decision.ts';
import type { Handling, PullRequestExaminer } from './handling.ts';
import { onRequestedAction } from './requested-action.ts';
import { brieflyExamined } from './pull-request-words.ts';
import { onInstallation, onRepositoryRenamed } from './reach.ts';
import { onRerun } from './rerun.ts';

/** A delivery to handle. The payload is validated before use. */
export interface ReceivedEvent {
  /** The delivery's GUID. */
  id: string;
  name: string;
  payload: unknown;
}

/** Services of other modules for the handlers. */
export interface HandlerServices {
  /** Examines pull requests; by default their check says that they deploy nothing. */
  pullRequests?: PullRequestExaminer;
}

/**
 * Decides what an event requires and does it. The decision is stored with the delivery (`context.decided`) as soon as
 * it is made, and again with what was done.
 *
 * @throws GitHubApiError, InstallationPaused or ServiceError if another service failed: the event is retried.
 */
export async function handleEvent(
  { id, name, payload }: ReceivedEvent,
  context: AppContext,
  services: HandlerServices = {},
): Promise<EventDecision> {
  const decision = decideEvent(name, payload);
  context.decided?.(id, { ...decision });
  const handling: Handling = { context, delivery: id, pullRequests: services.pullRequests ?? brieflyExamined(context) };
  const did = await carryOut(decision, handling);
  context.decided?.(id, { ...decision, did });
  context.log(formatDecision(decision), { delivery: id, event: name, did: did.join('; ') || undefined });
  return decision;
}

function carryOut(decision: EventDecision, handling: Handling): Promise<readonly string[]> {
  switch (decision.kind) {
    case 'push':
      return onPush(decision, handling);
    case 'nothing-to-build':
      return onNothingToBuild(decision, handling);
    case 'rerun':
      return onRerun(decision, handling);
    case 'press':
      return onRequestedAction(decision, handling);
    case 'check-suite':
      return onCheckSuite(decision, handling);
    case 'pull-request':
      return onPullRequest(decision, handling);
    case 'merge-group':
      return onMergeGroup(decision, handling);
    case 'installation':
      return onInstallation(decision, handling);
    case 'repository-renamed':
      return onRepositoryRenamed(decision, handling);
    case 'branch-deleted':
      return onBranchDeleted(decision, handling);
    case 'ignore':
      return Promise.resolve([]);
  }
}
