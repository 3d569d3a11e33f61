import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { ServiceError } from '../../src/contract/service-error.ts';
import { asCode, asMarkdown } from '../../src/deploy/words/sanitize.ts';
import { refusalOfFreeze } from '../../src/deploy/commands/decide.ts';
import { refusalWords } from '../../src/deploy/commands/words.ts';
import type { AppContext, Target } from '../context.ts';
import { titleOf } from '../reporting/title.ts';
import type { TargetCandidate } from './candidates.ts';

type StatusContext = Pick<AppContext, 'control' | 'store' | 'clock'>;

/** How many open requests of a deployment are listed. */
const maxListed = 5;

/** How deployments stand, as a list in Markdown: what is live, on its way, waiting, held, frozen or paused. */
export async function statusOf(candidates: readonly TargetCandidate[], context: StatusContext): Promise<string> {
  const lines: string[] = [];
  for (const candidate of candidates) lines.push(...(await linesOf(candidate, context)));
  return lines.join('\n');
}

async function linesOf({ target, branch }: TargetCandidate, context: StatusContext): Promise<string[]> {
  const { deploymentId, terms } = target;
  const { store, clock } = context;
  const { name, production } = terms.environment;
  const from = terms.promotedFrom ? asMarkdown(terms.promotedFrom.name, 100) : asCode(branch);
  const environment = `environment ${asMarkdown(name, 100)}${production ? ', production' : ''}`;
  const open = (await store.openIntents(deploymentId)).toReversed();
  const { held } = await store.deploymentQueue(deploymentId);
  const about = { now: clock.now() };
  return [
    `- **${asMarkdown(terms.deploymentName, 100)}** (from ${from}, ${environment}): ${await liveOf(deploymentId, context)}`,
    ...open
      .slice(0, maxListed)
      .map((intent) => `  - ${asCode(shortCommit(intent.commit))}: ${asMarkdown(titleOf(intent, about))}`),
    ...(open.length > maxListed ? [`  - and ${open.length - maxListed} more`] : []),
    ...gateLines(target, clock.now()),
    ...(held ? [`  - ${pausedLine(target)}`] : []),
  ];
}

/** What the deploy file says of the environment now. */
function gateLines({ terms }: Target, now: number): string[] {
  const { gate, promotedFrom } = terms;
  if (!gate) return [];
  const frozen = refusalOfFreeze(terms, now);
  return [
    ...(gate.hold ? [`  - held: nothing arrives by itself, until a person gives \`${commandFor(promotedFrom)}\``] : []),
    ...(frozen ? [`  - ${asMarkdown(refusalWords(frozen).why)}`] : []),
  ];
}

const pausedLine = ({ terms: { promotedFrom } }: Target): string =>
  `${promotedFrom ? 'promotions' : 'pushes'} are paused after a rollback, until a person presses Redeploy or gives \`${commandFor(promotedFrom)}\``;

const commandFor = (promotedFrom: Target['terms']['promotedFrom']): string => (promotedFrom ? '/promote' : '/deploy');

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
