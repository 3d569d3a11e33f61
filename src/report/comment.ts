import type { Outcome } from '../deploy/outcome-types.ts';
import { asCode } from './sanitize.ts';
import { summary } from './summary.ts';

/** Where the words of a comment come from. */
export interface CommentSource {
  /** The commit that the run was of. */
  commit?: string | undefined;
  /** The run, on GitHub's pages: an address of ours. */
  runUrl?: string | undefined;
}

/** The comment on a pull request: the summary of the run, with its link and its commit. */
export function comment(outcome: Outcome, { commit, runUrl }: CommentSource, limitBytes: number): string {
  const of = commit === undefined ? 'this pull request' : `commit ${asCode(commit)}`;
  const source = `_Of ${of}${runUrl === undefined ? '' : `, reported by [this run](${runUrl})`}._`;
  return `${summary(outcome, limitBytes - Buffer.byteLength(source) - 2)}\n${source}\n`.toWellFormed();
}
