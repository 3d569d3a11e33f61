import { leftOut, truncateSections } from '../../src/deploy/words/summary.ts';
import type { AppContext } from '../context.ts';
import type { GivenCommand, PullRequestExaminer } from '../events/event-types.ts';
import type { InstallationRepository, PullRequestState } from '../github/github-api.ts';
import type { DeployFile } from '../targets/file-entries.ts';
import { approvePreview } from '../previews/approve.ts';
import { refusalOfHead } from '../../src/deploy/commands/decide.ts';
import type { Command } from '../../src/deploy/commands/definitions.ts';
import { refused, type CommandOutcome, type CommandRefusal } from '../../src/deploy/commands/outcomes.ts';
import { decideOnce } from './performance.ts';
import type { CommandAction, StoredCommand } from './stored-command.ts';

/** A command about the pull request as a whole. */
export interface PullCommand {
  command: Command;
  given: Pick<GivenCommand, 'number' | 'by'> & { repository: InstallationRepository };
  pull: PullRequestState;
  stored: StoredCommand;
  context: Pick<AppContext, 'previews' | 'previewFile' | 'store'>;
  pullRequests: PullRequestExaminer;
}

/** The most of a plan that is shown in a comment (bytes); the check of the pull request has all of it. */
const maxPlanBytes = 15_000;

/** Says what merging the pull request would change, by the same forecast as its check. */
export async function plan({ given, pull, pullRequests }: PullCommand): Promise<CommandOutcome> {
  const { repository, number } = given;
  const { headSha, baseBranch, isFork } = pull;
  const content = await pullRequests.plan({
    repository,
    number,
    headSha,
    baseBranch,
    fork: isFork,
  });
  const details = truncateSections([content.summary], maxPlanBytes, leftOut);
  return { kind: 'done', code: 'planned', title: content.title, details };
}

/** Requests the preview of the commit that is the head now. */
export async function preview(given: PullCommand): Promise<CommandOutcome> {
  const { pull, context } = given;
  const { previews, previewFile } = context;
  if (!previews || !previewFile) return refused({ code: 'no-previews' });
  const decided = await decideOnce(given, 'preview', async () => {
    const file = await previewFile(given.given.repository);
    const refusal = refusalOfHead(given.command, pull) ?? refusalOfFile(file, pull);
    if (refusal) return { ok: false, outcome: refused(refusal) };
    return { ok: true, action: { kind: 'preview', commit: pull.headSha, isFork: pull.isFork } };
  });
  return decided.ok ? requestPreview(decided.action, given) : decided.outcome;
}

/** Requests a preview that was decided on: at the same time in every attempt, so that it is proven once for a comment. */
export async function requestPreview(
  { commit, isFork }: Extract<CommandAction, { kind: 'preview' }>,
  { given: { repository, number }, stored, context: { previews } }: Pick<PullCommand, 'given' | 'stored' | 'context'>,
): Promise<CommandOutcome> {
  if (!previews) return refused({ code: 'no-previews' });
  await approvePreview({ previews, clock: { now: () => stored.takenAt } }, { repository, number }, commit, stored.by);
  return { kind: 'done', code: 'previewed', commit, isFork };
}

/** Why the deploy file gives a pull request no preview that the App makes. */
function refusalOfFile(file: DeployFile, { labels }: PullRequestState): CommandRefusal | undefined {
  const read = file.entries.flatMap((each) => (each.read.ok ? [each.read.value] : []));
  const whens = read.flatMap(({ desired, preview: terms }) =>
    terms && desired.source === 'github' ? [terms.when] : [],
  );
  const isUnread = file.unread !== undefined || file.notes.length > 0 || read.length < file.entries.length;
  if (whens.length === 0) return { code: isUnread ? 'previews-unread' : 'no-previews' };
  const has = (label: string) => labels.some((each) => each.toLowerCase() === label.toLowerCase());
  if (whens.some((when) => typeof when !== 'object' || has(when.label))) return undefined;
  const [first] = whens;
  return typeof first === 'object' ? { code: 'no-label', label: first.label } : undefined;
}
