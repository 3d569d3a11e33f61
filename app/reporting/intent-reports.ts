import { shortCommit } from '../../src/planning/commit.ts';
import { checkLimitBytes, truncateSections } from '../../src/report/truncate.ts';
import { asLine } from '../../src/report/sanitize.ts';
import type { CheckContent, DeploymentContent } from '../github/github-api.ts';
import type { Intent } from '../reconcile/intent.ts';
import { checkName, type ReportPut } from '../reconcile/report.ts';
import type { About } from './about.ts';
import { buttonsOf } from './buttons.ts';
import { summarySections } from './check-summary.ts';
import { textSections } from './check-text.ts';
import { deploymentStateOf, checkStatusOf } from './check-status.ts';
import { titleOf } from './title.ts';

/**
 * The check run of (deployment, head commit) for this intent. A `joined` intent is reported by another one of its
 * commit: callers skip it, since its report would overwrite that one's.
 */
export function checkOf(intent: Intent, about: About): ReportPut {
  const { repository, commit, terms, createdAt, sentAt, end } = intent;
  const cut = '_The rest is left out: GitHub takes no more here._';
  const text = truncateSections(textSections(intent), checkLimitBytes, cut);
  const buttons = buttonsOf(intent);
  const address = webAddress(intent.agentUrl);
  const checkStatus = checkStatusOf(intent);
  const content: CheckContent = {
    ...checkStatus,
    title: titleOf(intent, about),
    summary: truncateSections(summarySections(intent, about), checkLimitBytes, cut),
    ...(text ? { text } : {}),
    ...(address ? { detailsUrl: address } : {}),
    ...(checkStatus.status === 'queued' ? {} : { startedAt: iso(sentAt ?? createdAt) }),
    ...(checkStatus.status === 'completed' ? { completedAt: iso(end?.at ?? intent.updatedAt) } : {}),
    ...(buttons.length > 0 ? { actions: buttons } : {}),
  };
  return {
    kind: 'check',
    repository,
    headSha: commit,
    name: checkName(terms.deploymentName),
    wanted: { kind: 'check', content },
  };
}

/** The GitHub Deployment of an intent; undefined if the intent was never sent or followed. */
export function deploymentOf(intent: Intent, about: About = { now: intent.updatedAt }): ReportPut | undefined {
  const { id, repository, commit, terms, revisionId, sentAt } = intent;
  if (revisionId === undefined && sentAt === undefined) return undefined;
  const address = webAddress(intent.agentUrl);
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
function steady(intent: Intent): Intent {
  const { rollout: _, ...rest } = intent;
  return rest;
}

/** GitHub accepts http and https only, and a URL with credentials must not be shown. */
function webAddress(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password ? href : undefined;
}

const iso = (at: number): string => new Date(at).toISOString();
