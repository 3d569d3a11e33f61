import { asMarkdown } from '../../src/report/sanitize.ts';
import type { RepositoryAt } from '../repository.ts';
import type { AppContext } from '../context.ts';

/** Identifies a check. */
export interface CheckMeant {
  repository: RepositoryAt;
  headSha: string;
  name: string;
}

const opening = '<!-- landfall: note -->';
const closing = '<!-- landfall: end of note -->';

/** A summary with room for a note: GitHub takes 65,535 characters. */
const roomLimit = 60_000;

/**
 * Writes on a check why a requested action was ignored. The note replaces the previous one. A check that is not
 * completed, or was written in the meantime, is left alone: its deploy writes it anew. The note is logged in any case.
 */
export async function noteOnCheck({ store, log }: AppContext, meant: CheckMeant, note: string): Promise<string> {
  const { repository, headSha, name } = meant;
  log(note, { repository: repository.repositoryId, commit: headSha, check: name });
  const report = await store.reportOf(repository.repositoryId, headSha, name);
  if (report?.wanted.kind !== 'check' || report.wanted.content.status !== 'completed') return note;
  const { content } = report.wanted;
  const summary = withNote(content.summary, note);
  if (summary.length <= roomLimit) {
    await store.putReport(
      {
        kind: 'check',
        repository: report.repository,
        headSha,
        name,
        wanted: { kind: 'check', content: { ...content, summary } },
      },
      report.version,
    );
  }
  return note;
}

/** The summary with this note at its top, in place of a previous one. */
export function withNote(summary: string, note: string): string {
  const end = summary.startsWith(opening) ? summary.indexOf(closing) : -1;
  const bare = end < 0 ? summary : summary.slice(end + closing.length).replace(/^\n+/, '');
  return `${opening}\n> ${asMarkdown(note)}\n${closing}\n\n${bare}`;
}
