import type { StoredCommand } from '../../../app/commands/stored-command.ts';
import type { IntentFields } from '../../../app/reconcile/intent.ts';
import { stranger } from './model-hub.ts';
import type { Simulation } from './simulation.ts';

/** What a person presses or comments makes one revision of a deployment, however often it is delivered. */
export function oncePerPerson({ control, deliveries }: Simulation, intents: readonly IntentFields[]): string[] {
  const requests = deliveries.map(({ requests: each }) => each);
  const count = (kinds: readonly string[], names: readonly string[]): number =>
    requests.filter(({ kind }) => kinds.includes(kind)).length +
    new Set(
      requests.flatMap((each) =>
        each.kind === 'comment' && names.some((name) => each.body.startsWith(`/${name}`)) ? each.commentId : [],
      ),
    ).size;
  const most = {
    redeploy: count(['redeploy', 'promote'], ['deploy', 'promote']),
    rollback: count(['rollback'], ['rollback']),
  };
  const made = control.written.flatMap(({ revision, key, deploymentId }) => {
    const kind = intents.find(({ id }) => id === key)?.cause.kind;
    return revision && (kind === 'redeploy' || kind === 'rollback') ? [{ deploymentId, kind }] : [];
  });
  return [...Map.groupBy(made, ({ deploymentId, kind }) => `${deploymentId} ${kind}`)].flatMap(([of, all]) =>
    all.length > most[all[0]?.kind ?? 'redeploy']
      ? [`people had ${of} made ${all.length} times, which is too often`]
      : [],
  );
}

/** A comment changes what it names, once, at what was stored before it was done. */
export function doneOnce(
  simulation: Simulation,
  given: readonly StoredCommand[],
  intents: readonly IntentFields[],
): string[] {
  return given.flatMap(({ commentId, text, action, outcome }) => {
    const made = intents.filter(({ cause }) => cause.key === `comment-${commentId}`);
    if (made.length > 1) return [`${text} (${commentId}) made ${made.length} requests`];
    const isWrong = made.some(
      ({ deploymentId, commit }) =>
        !text.endsWith(` ${simulation.termsOf(deploymentId).deploymentName}`) ||
        action === undefined ||
        !('deploymentId' in action) ||
        action.deploymentId !== deploymentId ||
        ('commit' in action && action.commit !== commit),
    );
    if (isWrong) return [`${text} (${commentId}) acted on something else`];
    const isRequest =
      action !== undefined && 'commit' in action && action.kind !== 'preview' && action.kind !== 'approve';
    const isLost = outcome?.kind === 'done' && isRequest && made.length === 0;
    return isLost ? [`${text} (${commentId}) is said to be done and requested nothing`] : [];
  });
}

/** Every command that arrived has an outcome, and no stranger's is obeyed; a pull request has one comment. */
export function answeredOnce(
  { deliveries, githubApi }: Simulation,
  given: readonly StoredCommand[],
  intents: readonly IntentFields[],
): string[] {
  const ended = new Map(given.map((command) => [command.commentId, command]));
  const unanswered = deliveries.flatMap(({ requests, storedAt }) => {
    if (requests.kind !== 'comment' || storedAt === undefined) return [];
    const command = ended.get(requests.commentId);
    const at = `${requests.body} (${requests.commentId})`;
    if (requests.by !== stranger) return command ? [] : [`${at} has no outcome`];
    const hasMade = intents.some(({ cause }) => cause.key === `comment-${requests.commentId}`);
    return hasMade || command?.outcome?.kind === 'done' ? [`${at} was obeyed, and is of a stranger`] : [];
  });
  const numbers = new Set([...given.map(({ number }) => number), ...githubApi.comments.map(({ pull }) => pull)]);
  const doubled = [...numbers].flatMap((number) => {
    const written = githubApi.comments.filter(({ pull }) => pull === number).length;
    return written === 1 ? [] : [`#${number} has ${written} comments`];
  });
  return [...unanswered, ...doubled];
}

/** The pull requests on which people gave commands. */
export const commentedPulls = ({ deliveries }: Simulation): Set<number> =>
  new Set(deliveries.flatMap(({ requests }) => (requests.kind === 'comment' ? requests.number : [])));

/** The revisions that people promote by commands. */
export const promotedBy = (given: readonly StoredCommand[]): Set<string> =>
  new Set(
    given.flatMap(({ action }) => (action?.kind === 'promote' ? [`${action.deploymentId} ${action.revisionId}`] : [])),
  );
