import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { asCode, asMarkdown } from '../../src/deploy/words/sanitize.ts';
import type { AppContext } from '../context.ts';
import { titleOf } from '../reporting/title.ts';
import type { TargetCandidate } from './candidates.ts';

type StatusContext = Pick<AppContext, 'control' | 'store' | 'clock'>;

/** How many open requests of a deployment are listed. */
const maxListed = 5;

/** How deployments stand, as a list in Markdown: what is live, on its way, waiting, held or paused. */
export async function statusOf(candidates: readonly TargetCandidate[], context: StatusContext): Promise<string> {
  const lines: string[] = [];
  for (const candidate of candidates) lines.push(...(await linesOf(candidate, context)));
  return lines.join('\n');
}

async function linesOf({ target, branch }: TargetCandidate, context: StatusContext): Promise<string[]> {
  const { deploymentId, terms } = target;
  const { store, clock } = context;
  const { name, production } = terms.environment;
  const environment = `environment ${asMarkdown(name, 100)}${production ? ', production' : ''}`;
  const open = (await store.openIntents(deploymentId)).toReversed();
  const { held } = await store.deploymentQueue(deploymentId);
  const about = { now: clock.now() };
  return [
    `- **${asMarkdown(terms.deploymentName, 100)}** (from ${asCode(branch)}, ${environment}): ${await liveOf(deploymentId, context)}`,
    ...open
      .slice(0, maxListed)
      .map((intent) => `  - ${asCode(shortCommit(intent.commit))}: ${asMarkdown(titleOf(intent, about))}`),
    ...(open.length > maxListed ? [`  - and ${open.length - maxListed} more`] : []),
    ...(held ? ['  - pushes are paused after a rollback, until a person presses Redeploy or gives `/deploy`'] : []),
  ];
}

async function liveOf(deploymentId: string, { control }: StatusContext): Promise<string> {
  try {
    const { active_revision_id: active } = await control.getDeployment(deploymentId);
    if (!active) return 'nothing is live';
    const revision = await control.getRevision(deploymentId, active);
    const commit = revision.source_revision_config.repo_commit_sha;
    return `live is revision ${asCode(active)}${commit ? ` of commit ${asCode(shortCommit(commit))}` : ''}`;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return `what is live is unknown: ${asMarkdown(error.message)}`;
  }
}
