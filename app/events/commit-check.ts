import { capitalized } from '../../src/kit/plain-text.ts';
import { isDeepStrictEqual } from 'node:util';
import { asMarkdown } from '../../src/deploy/words/sanitize.ts';
import { checkLimitBytes, leftOut, truncateSections } from '../../src/deploy/words/summary.ts';
import type { CheckContent, InstallationRepository } from '../github/github-api.ts';
import type { AppContext, Targets } from '../context.ts';
import {
  checkReport,
  commitCheckName,
  type CheckSubject,
  type DesiredReport,
  type ReportContent,
} from '../reconcile/report.ts';

const titles = { none: 'Nothing to deploy', some: 'Some deployments are not acted upon' };

/** How many refused deployments a check lists, because GitHub limits the length of a summary. */
const maxListed = 50;

/** The check of a commit that is not deployed. `why` is a clause without a full stop, `hint` trusted Markdown. */
export const nothingToDeploy = (why: string, refused: Targets['refused'], now: number, hint?: string): CheckContent =>
  commitCheck(titles.none, why, refused, now, hint);

/** Explains when a branch is deployed: only the service's own fields decide. */
export const howBranchesDeploy =
  'A branch is deployed where the control service lists a deployment of source `github` with this repository as `repo_url`, this branch as `repo_ref`, and `build_on_push: true`.';

/** The check of a commit that is deployed, but not to every target of its branch. */
export const partlyDeployed = (refused: Targets['refused'], now: number): CheckContent =>
  commitCheck(titles.some, 'the other deployments of this branch have checks of their own', refused, now);

function commitCheck(title: string, why: string, refused: Targets['refused'], now: number, hint = ''): CheckContent {
  const items = refused.slice(0, maxListed).map((each) => `- ${asMarkdown(each.deployment)}: ${asMarkdown(each.why)}`);
  const rest = refused.length - items.length;
  const lines = [...items, ...(rest > 0 ? [`- and ${rest} more`] : [])];
  return {
    status: 'completed',
    conclusion: refused.some(({ isFailure }) => isFailure === true) ? 'failure' : 'neutral',
    title,
    summary: truncateSections(
      [
        `${asMarkdown(capitalized(why))}.`,
        ...(hint ? [hint] : []),
        ...(lines.length > 0 ? [['Not acted upon:', '', ...lines].join('\n')] : []),
      ],
      checkLimitBytes,
      leftOut,
    ),
    completedAt: new Date(now).toISOString(),
  };
}

/**
 * Writes the check of the commit as a whole. A pull request's report stays: it says more than "nothing is deployed".
 * Unchanged content is written once, except on a re-run.
 */
export async function putCommitCheck(
  { store }: Pick<AppContext, 'store'>,
  { repository, headSha }: { repository: InstallationRepository; headSha: string },
  content: CheckContent,
  isRequestedAgain = false,
): Promise<void> {
  const stored = await store.reportOf(repository.repositoryId, headSha, commitCheckName);
  if (stored && subjectOf(stored.wanted)?.kind !== 'commit') return;
  const isUnchanged = isDeepStrictEqual({ ...stored?.wanted.content, completedAt: content.completedAt }, content);
  if (isUnchanged && !isRequestedAgain) return;
  const report = checkReport({ repository, headSha, name: commitCheckName }, content, { kind: 'commit' });
  await store.putReport(report, stored?.version ?? 0);
}

/** The subject of a stored check. Older ones were stored without it, and have a title or a mark that shows it. */
export function subjectOf(wanted: ReportContent): CheckSubject | undefined {
  if (wanted.kind !== 'check' || wanted.subject) return wanted.kind === 'check' ? wanted.subject : undefined;
  const { title, summary } = wanted.content;
  if (Object.values(titles).includes(title)) return { kind: 'commit' };
  const number = /<!-- landfall: pull request (\d+) -->/.exec(summary)?.[1];
  return number === undefined ? undefined : { kind: 'pull-request', number: Number(number) };
}

const noteStart = '<!-- landfall: note -->';
const noteEnd = '<!-- landfall: end of note -->';

/** The maximum size of a summary with a note. GitHub's limit is 65,535 bytes. */
const maxSummaryBytes = 60_000;

/**
 * Notes on a check why a requested action was ignored, replacing a previous note. A check that is not completed, or
 * changed in the meantime, is left alone, because its deploy writes it again. The note is always logged.
 */
export async function noteOnCheck(
  { store, log }: Pick<AppContext, 'store' | 'log'>,
  { repository, headSha, name }: Pick<DesiredReport, 'repository' | 'headSha' | 'name'>,
  note: string,
): Promise<string> {
  log.info({ repository: repository.repositoryId, commit: headSha, check: name }, note);
  const report = await store.reportOf(repository.repositoryId, headSha, name);
  if (report?.wanted.kind !== 'check' || report.wanted.content.status !== 'completed') return note;
  const { content, subject } = report.wanted;
  const summary = withNote(content.summary, note);
  if (Buffer.byteLength(summary) <= maxSummaryBytes) {
    await store.putReport(checkReport(report, { ...content, summary }, subject), report.version);
  }
  return note;
}

/** The summary with this note at its top, in place of a previous one. */
export function withNote(summary: string, note: string): string {
  const end = summary.startsWith(noteStart) ? summary.indexOf(noteEnd) : -1;
  const rest = end < 0 ? summary : summary.slice(end + noteEnd.length).replace(/^\n+/, '');
  return `${noteStart}\n> ${asMarkdown(note)}\n${noteEnd}\n\n${rest}`;
}
