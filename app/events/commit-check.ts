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

/** How many refused deployments a check lists: a list is to be read, and GitHub bounds a summary. */
const listed = 50;

/** The check of a commit of which nothing is deployed. `why` is a clause without a full stop, `hint` Markdown of ours. */
export const nothingToDeploy = (why: string, refused: Targets['refused'], now: number, hint?: string): CheckContent =>
  commitCheck(titles.none, why, refused, now, hint);

/** How a branch becomes a target: only by the service's own fields. */
export const whatDeploys =
  'A branch is deployed where the control service lists a deployment of source `github` with this repository as `repo_url`, this branch as `repo_ref`, and `build_on_push: true`.';

/** The check of a commit that is deployed, but not to every target of its branch. */
export const notEverywhere = (refused: Targets['refused'], now: number): CheckContent =>
  commitCheck(titles.some, 'the other deployments of this branch have checks of their own', refused, now);

function commitCheck(title: string, why: string, refused: Targets['refused'], now: number, hint = ''): CheckContent {
  const shown = refused.slice(0, listed).map((each) => `- ${asMarkdown(each.deployment)}: ${asMarkdown(each.why)}`);
  const rest = refused.length - shown.length;
  const lines = [...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])];
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

/** What a stored check of a commit is about. One that was stored without a subject shows it by its title or its mark. */
export function subjectOf(wanted: ReportContent): CheckSubject | undefined {
  if (wanted.kind !== 'check' || wanted.subject) return wanted.kind === 'check' ? wanted.subject : undefined;
  const { title, summary } = wanted.content;
  if (Object.values(titles).includes(title)) return { kind: 'commit' };
  const number = /<!-- landfall: pull request (\d+) -->/.exec(summary)?.[1];
  return number === undefined ? undefined : { kind: 'pull-request', number: Number(number) };
}

const opening = '<!-- landfall: note -->';
const closing = '<!-- landfall: end of note -->';

/** A summary with room for a note. GitHub takes 65,535 bytes. */
const roomLimitBytes = 60_000;

/**
 * Writes on a check why a requested action was ignored. The note replaces the previous one. A check that is not
 * completed, or was written in the meantime, is left alone: its deploy writes it anew. The note is logged in any case.
 */
export async function noteOnCheck(
  { store, log }: AppContext,
  { repository, headSha, name }: Pick<DesiredReport, 'repository' | 'headSha' | 'name'>,
  note: string,
): Promise<string> {
  log.info({ repository: repository.repositoryId, commit: headSha, check: name }, note);
  const report = await store.reportOf(repository.repositoryId, headSha, name);
  if (report?.wanted.kind !== 'check' || report.wanted.content.status !== 'completed') return note;
  const { content, subject } = report.wanted;
  const summary = withNote(content.summary, note);
  if (Buffer.byteLength(summary) <= roomLimitBytes) {
    await store.putReport(checkReport(report, { ...content, summary }, subject), report.version);
  }
  return note;
}

/** The summary with this note at its top, in place of a previous one. */
export function withNote(summary: string, note: string): string {
  const end = summary.startsWith(opening) ? summary.indexOf(closing) : -1;
  const bare = end < 0 ? summary : summary.slice(end + closing.length).replace(/^\n+/, '');
  return `${opening}\n> ${asMarkdown(note)}\n${closing}\n\n${bare}`;
}
