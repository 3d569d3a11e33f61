import { shortCommit } from '../../src/contract/control/repo-ref.ts';
import { asCode, asLine, asLink, asMarkdown } from '../../src/deploy/words/sanitize.ts';
import type { CheckContent, DeploymentContent, PullRequestState } from '../github/github-api.ts';
import { stateByOutcome } from '../../src/github/deployment.ts';
import { checkReport, commentReport, type DesiredReport } from '../reconcile/report.ts';
import { anyEntry, type DecidedPreview } from './decide-previews.ts';
import { outcomeOf, type Preview, type PreviewedPull, type PreviewOutcome } from './preview.ts';
import { refusalWords, removalWords } from './preview-words.ts';

/** What is known of the previews of a pull request. */
export interface Reported {
  pull: PreviewedPull;
  state: PullRequestState | undefined;
  decided: readonly DecidedPreview[];
  /** What was stored of them before. */
  stored: readonly Preview[];
  /** The mistakes in the deploy file, for which nothing is known of some or all previews. */
  mistakes: readonly string[];
  /** ms since the epoch */
  now: number;
}

/** The name of the check of a preview. */
const previewCheckName = (entry: string, number: number): string => `Landfall preview: ${entry} (#${number})`;

/** The preview that a check of this name is of; undefined where it is of none. */
export function previewOfCheck(name: string): { entry: string; number: number } | undefined {
  const [, entry, number] = /^Landfall preview: (.+) \(#([1-9]\d{0,9})\)$/s.exec(name) ?? [];
  return entry === undefined ? undefined : { entry, number: Number(number) };
}

/** What GitHub is to show of the previews of a pull request: checks, GitHub Deployments, and a part of the comment. */
export function reportsOf(reported: Reported): DesiredReport[] {
  const { pull, decided, stored } = reported;
  const sections = decided.flatMap((each) => {
    const before = stored.find(({ entry }) => entry === each.entry);
    return { each, before };
  });
  const text = [
    ...sections.flatMap(({ each, before }) => sectionOf(each, before, reported)),
    ...mistakesSection(reported),
  ].join('\n\n');
  return [
    ...sections.flatMap(({ each, before }) => [...replaced(each, before, pull), ...current(each, before, reported)]),
    ...(text === '' ? [] : [commentReport(pull, { preview: text })]),
  ];
}

/** Ends what is shown of the commit that a preview had before. */
function replaced(
  { request, entry }: DecidedPreview,
  before: Preview | undefined,
  pull: PreviewedPull,
): DesiredReport[] {
  if (!request || before?.wanted.kind !== 'deploy') return [];
  const { wanted } = request;
  if (wanted.kind === 'deploy' && wanted.commit === before.wanted.commit) return [];
  const why =
    wanted.kind === 'gone' ? `Removed: ${removalWords(wanted.code)}.` : `Replaced by ${shortCommit(wanted.commit)}.`;
  return over({ ...pull, entry, commit: before.wanted.commit }, outcomeOf(before), why);
}

/** Shows the commit that a preview has from now on. */
function current({ request, entry, decision }: DecidedPreview, before: Preview | undefined, { pull, state }: Reported) {
  if (decision.kind === 'refuse' && state) {
    const why = refusalWords(decision.refusal);
    const content = { title: 'No preview', summary: asMarkdown(why, 2_000) };
    return [
      check(
        { ...pull, entry, commit: state.headSha },
        { status: 'completed', conclusion: 'action_required', ...content },
      ),
    ];
  }
  if (request) return request.wanted.kind === 'deploy' ? begun({ ...pull, entry, commit: request.wanted.commit }) : [];
  if (!before || entry === anyEntry) return [];
  const at = { ...pull, entry, commit: before.wanted.commit };
  // Put again at each look: what another pull request's look or an outage of GitHub removed was not said then.
  if (before.wanted.kind === 'gone') return gone(at, before.wanted, before.known);
  const outcome = outcomeOf(before);
  return outcome ? ended(at, outcome) : begun(at);
}

type ReportedCommit = Pick<PreviewedPull, 'repository' | 'number'> & { entry: string; commit: string };

function gone(
  at: ReportedCommit,
  { code }: Extract<Preview['wanted'], { kind: 'gone' }>,
  { outcome }: Preview['known'],
): DesiredReport[] {
  return over(at, outcome?.commit === at.commit ? outcome : undefined, `Removed: ${removalWords(code)}.`);
}

/** A commit whose preview is there no longer. Its outcome may have come since the last look, so it is shown here. */
function over(at: ReportedCommit, outcome: PreviewOutcome | undefined, why: string): DesiredReport[] {
  const neutral = { status: 'completed', conclusion: 'neutral', title: asLine(why, 140), summary: why } as const;
  return [outcome ? concluded(at, outcome) : check(at, neutral), deployment(at, 'inactive', why)];
}

const begun = (at: ReportedCommit): DesiredReport[] => [
  check(at, {
    status: 'in_progress',
    title: 'The preview is on its way',
    summary: 'The preview of this commit is built, and then proven by its smoke tests.',
  }),
  deployment(at, 'in_progress', `The preview of ${shortCommit(at.commit)} is on its way`),
];

const ended = (at: ReportedCommit, outcome: PreviewOutcome): DesiredReport[] => {
  const { kind, reason, address } = outcome;
  return [concluded(at, outcome), deployment(at, stateByOutcome[kind], `${kind}: ${reason}`, address)];
};

const concluded = (
  at: ReportedCommit,
  { kind, passes, reason, summary, receipt, address }: PreviewOutcome,
): DesiredReport =>
  check(at, {
    status: 'completed',
    conclusion: passes ? 'success' : 'failure',
    title: asLine(`${kind}: ${reason}`, 140).toWellFormed(),
    summary,
    ...(receipt ? { text: receipt } : {}),
    ...(address ? { detailsUrl: address } : {}),
  });

const check = ({ repository, number, commit, entry }: ReportedCommit, content: CheckContent): DesiredReport =>
  checkReport({ repository, headSha: commit, name: previewCheckName(entry, number) }, content);

function deployment(
  { repository, number, commit, entry }: ReportedCommit,
  state: DeploymentContent['state'],
  description: string,
  address?: string,
): DesiredReport {
  const content: DeploymentContent = {
    environment: `preview/pr-${number}`,
    production: false,
    transient: true,
    shared: true,
    state,
    description: asLine(description, 140),
    ...(address ? { environmentUrl: address } : {}),
  };
  const name = `preview ${number} ${entry}`;
  return { kind: 'deployment', repository, headSha: commit, name, wanted: { kind: 'deployment', content } };
}

/** What the comment says of one preview; nothing where there is none and never was one. */
function sectionOf(
  { entry, decision, request }: DecidedPreview,
  before: Preview | undefined,
  { now }: Reported,
): string[] {
  const title = `### Preview of ${asCode(entry, 100)}`;
  const wanted = request?.wanted ?? before?.wanted;
  const standing = wanted?.kind === 'deploy' && before?.wanted.kind === 'deploy' ? before : undefined;
  switch (decision.kind) {
    case 'none':
    case 'remove':
      return wanted?.kind === 'gone' ? [`${title}\n\nRemoved: ${removalWords(wanted.code)}.`] : [];
    case 'wait':
      return [
        `${title}\n\n${waitWords[decision.code](decision.sha)}${standing ? `\n\n${stateOf(standing, now)}` : ''}`,
      ];
    case 'refuse':
      return [
        `${title}\n\nNo preview of the newest commit: ${asMarkdown(refusalWords(decision.refusal), 2_000)}${standing ? `\n\n${stateOf(standing, now)}` : ''}`,
      ];
    case 'create':
    case 'update':
      return wanted?.kind === 'deploy' ? [`${title}\n\nCommit ${asCode(wanted.commit)} is on its way.`] : [];
    case 'keep':
    case 'unread':
      return standing ? [`${title}\n\n${stateOf(standing, now)}`] : [];
  }
}

/** Why nothing more is said of previews: nobody would know otherwise, where there is none yet. */
function mistakesSection({ mistakes, state }: Reported): string[] {
  if (mistakes.length === 0 || !state?.isOpen) return [];
  const why = 'The deploy file of the default branch has mistakes, so it makes no new previews of this pull request.';
  const advice = 'Correct it there, and push again or comment `/preview`.';
  const list = mistakes.map((each) => `- ${asMarkdown(each, 500)}`).join('\n');
  return [`### Previews\n\n${why} ${advice}\n\n${list}`];
}

const waitWords = {
  approval: (sha: string) =>
    `Nothing of commit ${asCode(sha)} runs: it comes from a fork. A person with write access who has read it comments \`/preview ${sha}\`; a later commit needs it again.`,
  command: (sha: string) =>
    `A person with write access comments \`/preview\` to get a preview of commit ${asCode(sha)}.`,
} as const;

function stateOf({ wanted, known, version }: Preview, now: number): string {
  if (wanted.kind !== 'deploy') return '';
  const outcome = outcomeOf({ known, version });
  const expiresAt = (known.changedAt ?? now) + wanted.terms.expiresAfterMs;
  const expiry = `It is removed with the pull request, at the latest at ${new Date(expiresAt).toISOString()}.`;
  if (!outcome) return `Commit ${asCode(wanted.commit)} is on its way. ${expiry}`;
  const open = outcome.address ? ` Open it: ${asLink(outcome.address)}.` : '';
  const sign = outcome.passes ? '✅' : '❌';
  return `${sign} Commit ${asCode(wanted.commit)}: **${outcome.kind}**. ${asMarkdown(outcome.reason, 1_000)}${open}\n\n${expiry}`;
}
