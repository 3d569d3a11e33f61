import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import {
  checkLimitBytes,
  leftOut,
  truncateSections,
  logsSection,
  smokeSection,
} from '../../src/deploy/words/summary.ts';
import { asLine, asCode, asCodeBlock } from '../../src/deploy/words/sanitize.ts';
import type { CheckContent, DeploymentContent } from '../github/github-api.ts';
import type { Intent, IntentFields, IntentOutcomeKind } from '../reconcile/intent.ts';
import { awaitsApproval } from '../reconcile/intent.ts';
import { checkName, checkReport, type DesiredReport } from '../reconcile/report.ts';
import { titleOf, type CheckContext } from './title.ts';
import { summarySections } from './check-summary.ts';
import { deploymentStateOf, checkStatusOf } from './check-status.ts';
import { intentReceipt } from './receipt.ts';
import { timeline } from '../../src/deploy/words/timeline.ts';

/** The check run of (deployment, head commit) for this intent; not for a `joined` one: it would overwrite another's. */
export function checkOf(intent: Intent, about: CheckContext): DesiredReport {
  const { repository, commit, terms, createdAt, sentAt, end, agentUrl, consolePage }: IntentFields = intent;
  const text = withReceipt(truncateSections(textSections(intent), checkLimitBytes, leftOut), intent, about);
  const buttons = buttonsOf(intent);
  const address = consolePage ?? webAddress(agentUrl);
  const checkStatus = checkStatusOf(intent);
  const content: CheckContent = {
    ...checkStatus,
    title: titleOf(intent, about),
    summary: truncateSections(summarySections(intent, about), checkLimitBytes, leftOut),
    ...(text ? { text } : {}),
    ...(address ? { detailsUrl: address } : {}),
    ...(checkStatus.status === 'queued' ? {} : { startedAt: iso(sentAt ?? createdAt) }),
    ...(checkStatus.status === 'completed' ? { completedAt: iso(end?.at ?? intent.updatedAt) } : {}),
    ...(buttons.length > 0 ? { actions: buttons } : {}),
  };
  return checkReport({ repository, headSha: commit, name: checkName(terms.deploymentName) }, content);
}

/** A receipt is whole or left out: a part of one proves nothing. */
const withReceiptSection = (text: string, receipt: string | undefined): string => {
  const whole = [text, receipt ?? ''].filter(Boolean).join('\n\n');
  return Buffer.byteLength(whole) <= checkLimitBytes ? whole : text;
};

const withReceipt = (text: string, intent: Intent, { service }: CheckContext): string =>
  withReceiptSection(text, service === undefined ? undefined : intentReceipt(intent, service));

/** The GitHub Deployment of an intent; undefined if the intent was never sent or followed. */
export function intentDeploymentReport(
  intent: Intent,
  about: CheckContext = { now: intent.updatedAt },
): DesiredReport | undefined {
  const { id, repository, commit, terms, revisionId, sentAt, agentUrl }: IntentFields = intent;
  if (revisionId === undefined && sentAt === undefined) return undefined;
  const address = webAddress(agentUrl);
  const content: DeploymentContent = {
    environment: terms.environment.name,
    production: terms.environment.production,
    transient: terms.environment.transient,
    ...(terms.environment.shared ? { shared: true } : {}),
    state: deploymentStateOf(intent),
    description: asLine(`${terms.deploymentName} at ${shortCommit(commit)}: ${titleOf(steady(intent), about)}`, 140),
    ...(address ? { environmentUrl: address } : {}),
  };
  return { kind: 'deployment', repository, headSha: commit, name: id, wanted: { kind: 'deployment', content } };
}

/** A Deployment's history keeps every status it is given: what only counts time is no news there. */
const steady = (intent: Intent): Intent =>
  intent.state === 'following' ? { ...intent, rollout: { ...intent.rollout, seen: [] } } : intent;

/** GitHub accepts http and https only, and a URL with credentials must not be shown. */
function webAddress(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password ? href : undefined;
}

const iso = (at: number): string => new Date(at).toISOString();

type Button = NonNullable<CheckContent['actions']>[number];

// GitHub bounds label, description and identifier at 20, 40 and 20 characters. `check_run.requested_action` brings back
// the identifier.
const rollback: Button = {
  label: 'Rollback',
  description: 'Back to the revision that served before',
  identifier: 'rollback',
};
const redeploy: Button = {
  label: 'Redeploy',
  description: 'Build the head of the branch again',
  identifier: 'redeploy',
};

const promote: Button = {
  label: 'Promote',
  description: 'Deploy it to the next environment',
  identifier: 'promote',
};
const approve: Button = {
  label: 'Approve',
  description: 'Let this commit be deployed',
  identifier: 'approve',
};

const promoteAgain: Button = { ...redeploy, description: 'Promote what is proven before it' };

/** Outcomes with a live revision, which can be rolled back. */
const serves: ReadonlySet<IntentOutcomeKind> = new Set(['deployed', 'unproven', 'broken']);
/** Outcomes that another intent of the commit reports: its check has the buttons. */
const stoodFor: ReadonlySet<IntentOutcomeKind> = new Set(['superseded', 'other-commit', 'joined']);
/** Skips that a person may override. */
const overruled = new Set<string | undefined>([
  'skip-word',
  'paths-untouched',
  'rolled-back-before',
  'cancelled',
  'environment-holds',
]);

/** The buttons of an intent's check: none while it is under way. */
function buttonsOf(intent: Intent): readonly Button[] {
  const { state, end, decision, promoted = [], terms }: IntentFields = intent;
  const again = terms.promotedFrom ? promoteAgain : redeploy;
  if (state === 'paused') return [again];
  if (awaitsApproval(intent)) return [approve];
  if (!end || stoodFor.has(end.kind)) return [];
  if (end.kind === 'skipped') return decision?.kind === 'skip' && overruled.has(decision.code) ? [again] : [];
  const waits = promoted.some(({ code }) => code !== 'requested');
  return [...(serves.has(end.kind) && hasFormer(intent) ? [rollback] : []), again, ...(waits ? [promote] : [])];
}

const hasFormer = ({ former, revisionId }: IntentFields): boolean => !!former?.live && former.live !== revisionId;

/** The sections of a check's text, in escaped Markdown: plan, timeline, smoke tests, last log lines. */
function textSections(intent: Intent): string[] {
  const { rollout, verdict, end }: IntentFields = intent;
  const seen = rollout?.seen ?? [];
  return [
    planOf(intent),
    seen.length > 0 ? `### Timeline\n\n${asCodeBlock(timeline(seen))}` : '',
    smokeSection(isBeforeTraffic(intent) ? 'Smoke tests before traffic' : 'Smoke tests', verdict),
    logsSection(end?.logs ? { logs: end.logs } : {}),
  ].filter(Boolean);
}

const isBeforeTraffic = ({ hold, verified }: IntentFields): boolean =>
  hold !== undefined || verified === 'before-traffic';

function planOf({ decision, sending, terms, sends }: Intent): string {
  const name = asCode(terms.deploymentName, 100);
  if (decision?.kind === 'adopt') {
    return `### Plan: adopt\n\nRevision ${asCode(decision.revisionId)} is of this commit already: it is followed, none is made.`;
  }
  // Skip what was not decided or never sent: `sending` alone only says what would be sent.
  if (!sends && decision?.kind !== 'trigger') return '';
  if (terms.builder === 'service' && !sends) {
    return `### Plan: follow\n\nThe service makes the revision of ${name} by itself; nothing is sent.`;
  }
  if (sending.kind === 'promote') {
    const { revisionId, name: earlier } = sending.from;
    return `### Plan: promote\n\nRevision ${asCode(revisionId)} of ${asCode(earlier, 100)} is deployed to ${name}: its very build where the service copies builds, else its commit.`;
  }
  return sending.kind === 'restate'
    ? `### Plan: patch\n\n| field | from | to | revision | why |\n|---|---|---|---|---|\n| ${asCode('source_revision_config.repo_ref')} | ${asCode(sending.repoRef)} | ${asCode(sending.repoRef)} | yes | stated again, so that its head is built |`
    : `### Plan: redeploy\n\nRevision ${asCode(sending.revisionId)} of ${name} is brought back; nothing is built from the branch.`;
}
