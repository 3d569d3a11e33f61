import { rollbackWords } from './rollback.ts';
import { asSentence } from '../../kit/plain-text.ts';
import type { ReportedChange, ReportedObstacle, ReportedPlan } from './plan.ts';
import type { NamedVerdict, Verdict } from '../rules/verdict-types.ts';
import { toReportedTest } from '../rules/verdict-report.ts';
import { failedRollbackTitle } from './revision-ending.ts';
import type { Outcome, PreviewReport } from '../machine/outcome-types.ts';
import { timeline } from './timeline.ts';
import { asCode, asCodeBlock, asLink, asMarkdown } from './sanitize.ts';
import { verdictTable } from './shown-verdict-table.ts';

/** What a runner takes of a step's summary: 1 MiB, of which a margin is left to others. */
const summaryLimitBytes = 1_000_000;

/**
 * The job summary in Markdown: sentence, plan, timeline, smoke table, log lines of a failure. Sections that do not fit
 * into `limitBytes` are cut behind a line, from the end, and it says so.
 */
export function summary(outcome: Outcome, limitBytes = summaryLimitBytes): string {
  const sections = [
    headline(outcome),
    outcome.plan ? planSection(outcome.plan) : '',
    outcome.rollout ? `### Timeline\n\n${asCodeBlock(timeline(outcome.rollout.seen))}` : '',
    smokeSection(outcome.verified === 'before-traffic' ? 'Smoke tests before traffic' : 'Smoke tests', outcome.verdict),
    rollbackSection(outcome),
    notesSection(outcome.notes),
    logsSection(outcome),
  ];
  return `${truncateSections(sections.filter(Boolean), limitBytes - 1, shortened)}\n`;
}

/** What a run did in detail, for an answer that says its end before; empty where that says all. */
export const detailsOf = (outcome: Outcome): string =>
  [
    outcome.plan && outcome.plan.kind !== 'none' ? planSection(outcome.plan) : '',
    smokeSection('Smoke tests', outcome.verdict),
    rollbackSection(outcome),
    notesSection(outcome.notes),
    logsSection(outcome),
  ]
    .filter(Boolean)
    .join('\n\n');

const shortened = '_The rest did not fit into a step summary; the log of this step has it._';

/**
 * The lines of a section that fit into so many bytes, a block of code among them closed; none where the title alone
 * would.
 */
function truncateToBytes(section: string, bytes: number): string {
  if (Buffer.byteLength(section) <= bytes) return section;
  const fence = /^(`{3,})text$/m.exec(section)?.[1];
  const kept: string[] = [];
  let left = bytes - (fence ? fence.length + 1 : 0);
  for (const line of section.split('\n')) {
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) break;
    kept.push(line);
  }
  const isOpen = fence !== undefined && kept.includes(`${fence}text`);
  return kept.length < 3 ? '' : [...kept, ...(isOpen ? [fence] : [])].join('\n');
}

function headline(outcome: Outcome): string {
  const { kind, passes, reason, advice, deploymentName, revisionId, activeRevisionId, deploymentUrl, consolePage } =
    outcome;
  const facts = [
    ...(revisionId ? [`- Revision: ${asCode(revisionId)}`] : []),
    ...(activeRevisionId ? [`- Active revision: ${asCode(activeRevisionId)}`] : []),
    ...(deploymentUrl ? [`- Agent: ${asLink(deploymentUrl)}`] : []),
    ...expiryLines(outcome.preview),
  ];
  return [
    `## ${passes ? '✅' : '❌'} ${asMarkdown(deploymentName ?? 'Deployment')}: ${kind}`,
    asMarkdown(reason, 2000),
    ...(advice ? [`**What to do:** ${asMarkdown(advice, 2000)}`] : []),
    ...(facts.length > 0 ? [facts.join('\n')] : []),
    ...(consolePage ? [consoleLink(consolePage)] : []),
  ].join('\n\n');
}

/** A link to a page of the console. */
export const consoleLink = (page: string): string => `[Open in the console](${page})`;

function planSection(plan: ReportedPlan): string {
  if (plan.kind === 'none') return `### Plan: nothing to change\n\n${asMarkdown(plan.why, 1000)}`;
  const table = plan.kind === 'impossible' ? obstacleTable(plan.obstacles) : changeTable(plan.changes, 'revision');
  return `### Plan: ${plan.kind}\n\n${table}`;
}

export const obstacleTable = (obstacles: readonly ReportedObstacle[]): string =>
  [
    '| field | problem | what to do |',
    '|---|---|---|',
    ...obstacles.map(
      ({ field, problem, advice }) => `| ${asCode(field)} | ${asMarkdown(problem)} | ${asMarkdown(advice)} |`,
    ),
  ].join('\n');

/** A table of changes; `revision` is the title of the column that says whether one makes a revision. */
export const changeTable = (changes: readonly ReportedChange[], revision: string): string =>
  [
    `| field | from | to | ${revision} | why |`,
    '|---|---|---|---|---|',
    ...changes.map(
      ({ field, from, to, makesRevision, why }) =>
        `| ${asCode(field)} | ${value(from)} | ${value(to)} | ${makesRevision ? 'yes' : 'no'} | ${asMarkdown(why)} |`,
    ),
  ].join('\n');

const value = (text: string | undefined): string => (text === undefined ? '' : asCode(text));

/** A table of the smoke tests with their inputs and results; empty without tests. */
export function smokeSection(title: string, verdict: Verdict | undefined): string {
  if (!verdict || verdict.kind === 'none') return '';
  return [`### ${title}: ${verdict.kind}`, '', ...verdictTable(verdict.tests.map(toShownTest))].join('\n');
}

const toShownTest = (test: NamedVerdict) =>
  toReportedTest(test, { text: (full) => full, longest: Infinity, expectations: Infinity, times: 200 });

function rollbackSection({ rollback }: Outcome): string {
  if (!rollback) return '';
  if (rollback.kind === 'done') {
    const serves = `### Rolled back\n\nRevision ${asCode(rollback.toRevisionId)} serves again.`;
    return `${serves}\n\n${smokeSection('After the rollback', rollback.verdict)}`.trimEnd();
  }
  const { why, advice } = rollbackWords(rollback);
  return `### ${failedRollbackTitle(rollback)}\n\n${asMarkdown(asSentence(why), 1000)} ${asMarkdown(advice, 1000)}`;
}

/** The notes as a list; empty where there are none. */
export const notesSection = (notes: readonly string[]): string =>
  notes.length === 0 ? '' : ['### Notes', '', ...notes.map((note) => `- ${asMarkdown(note, 1000)}`)].join('\n');

/** The last log lines in a block of code; empty where there are none. */
export function logsSection({ logs }: Pick<Outcome, 'logs'>): string {
  if (!logs || logs.length === 0) return '';
  return `### Last log lines\n\n${asCodeBlock(logs.map(({ message }) => message))}`;
}

/** The comment on a pull request: the summary of the run, with its commit and its address on GitHub's pages. */
export function comment(
  outcome: Outcome,
  { commit, runUrl }: { commit?: string | undefined; runUrl?: string | undefined },
  limitBytes: number,
): string {
  const of = commit === undefined ? 'this pull request' : `commit ${asCode(commit)}`;
  const source = `_Of ${of}${runUrl === undefined ? '' : `, reported by [this run](${runUrl})`}._`;
  return `${summary(outcome, limitBytes - Buffer.byteLength(source) - 2)}\n${source}\n`.toWellFormed();
}

/** What GitHub takes for a summary or a text of a check run: it says characters and counts bytes. */
export const checkLimitBytes = 65_535;

/** What says in a check run that it was cut. */
export const leftOut = '_The rest is left out: GitHub takes no more here._';

/**
 * Sections of Markdown one below the other, cut behind a line where they do not fit into `limitBytes`; `rest` is what
 * then says so. A block of code that is cut is closed.
 */
export function truncateSections(sections: readonly string[], limitBytes: number, rest: string): string {
  const whole = sections.join('\n\n').toWellFormed();
  if (Buffer.byteLength(whole) <= limitBytes) return whole;
  const kept: string[] = [];
  let left = limitBytes - Buffer.byteLength(rest) - 2;
  for (const section of sections) {
    const fits = truncateToBytes(section, left);
    if (fits) kept.push(fits);
    if (fits !== section) break;
    left -= Buffer.byteLength(fits) + 2;
  }
  return [...kept, rest].join('\n\n').toWellFormed();
}

/** What is said of how long a preview stays, as an item of a list. */
const expiryLines = (preview: PreviewReport | undefined): string[] =>
  preview?.expiresAt === undefined || preview.pullRequest === undefined
    ? []
    : [`- Preview of pull request ${preview.pullRequest}: removed when it closes, or on ${asCode(preview.expiresAt)}`];
