import { withoutControls } from '../../../kit/plain-text.ts';
import type { Commit } from './build.ts';
import type { RunGit } from './mirror.ts';

/** The longest subject and the longest author, in characters. */
const longest = 300;

const fields = { author: '%an', date: '%aI', subject: '%s' } as const;

/** Reads what git knows of a commit that a mirror has. Nothing depends on it: what cannot be read is null. */
export async function readCommit(sha: string, inMirror: RunGit): Promise<Commit> {
  const format = Object.entries(fields).map(([name, placeholder]) => `landfall-${name} ${placeholder}`);
  const options = ['--max-count=1', '--no-show-signature', '--encoding=UTF-8', `--format=${format.join('%n')}`];
  const end = await inMirror(['log', ...options, sha, '--'], { silent: true });
  const lines = end.kind === 'done' ? end.output : [];
  // The output may include warnings of git.
  const fieldOf = (name: keyof typeof fields): string | null => {
    const start = `landfall-${name} `;
    const line = lines.find((each) => each.startsWith(start))?.slice(start.length) ?? '';
    return withoutControls(line).slice(0, longest).toWellFormed().trim() || null;
  };
  return { sha, subject: fieldOf('subject'), author: fieldOf('author'), authoredAt: timeOf(fieldOf('date')) };
}

/** A time that Postgres and JSON can hold: a commit may name any. */
function timeOf(written: string | null): Date | null {
  const time = new Date(written ?? Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? time : null;
}
