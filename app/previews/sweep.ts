import { catchTransientError } from '../recovery/recover-heads.ts';
import type { RepositoryClient } from '../recovery/recover.ts';
import { markedDeployments } from './own-deployments.ts';
import { outcomeOf, type Preview, type PreviewKey } from './preview.ts';
import type { PreviewContext } from './preview-context.ts';

/** How long what was removed is looked at again (ms): a creation without a response may take effect late. */
const lateCreationMs = 30 * 60_000;

/** What a sweep did. */
export interface SweepResult {
  /** The pull requests that are looked at again. */
  looked: number;
  /** The previews without a pull request that are removed. */
  strays: number;
  forgotten: number;
}

/**
 * Has every pull request with previews looked at, whether or not an event came, and removes previews of repositories
 * that the App reaches which no open pull request has. What does not carry the mark of such a repository is left alone.
 */
export async function sweepPreviews(context: PreviewContext, repositories: RepositoryClient): Promise<SweepResult> {
  const { previews, clock, log } = context;
  const open = await previews.openPulls(clock.now() - lateCreationMs);
  for (const pull of open) {
    await previews.notify(pull.repository, pull.number);
    for (const preview of await previews.previews(pull)) {
      if (preview.wanted.kind === 'gone' || isStuck(preview, clock.now())) await previews.again(preview, clock.now());
    }
  }
  let strays = 0;
  const failure = await catchTransientError(async () => {
    strays = await removeStrays(context, repositories);
  });
  if (failure !== undefined) log.warn(`Previews without a pull request could not be looked for: ${failure.message}`);
  const forgotten = await previews.forgetPreviews(clock.now() - lateCreationMs);
  return { looked: open.length, strays, forgotten };
}

/** How long a run may take (ms) before its job counts as lost. */
const runMs = 45 * 60_000;

const isStuck = ({ known, version }: Preview, now: number): boolean =>
  outcomeOf({ known, version }) === undefined && now >= Math.max(known.begun?.at ?? 0, known.changedAt ?? 0) + runMs;

async function removeStrays(context: PreviewContext, repositories: RepositoryClient): Promise<number> {
  const { previews, clock, githubApi } = context;
  const unknown = new Map<number, { key: PreviewKey; name: string }[]>();
  for (const { deployment, key } of await markedDeployments(context.control)) {
    const stored = await previews.preview(key);
    if (stored?.wanted.kind === 'gone') await previews.again(key, clock.now());
    if (stored) continue;
    unknown.set(key.repositoryId, [...(unknown.get(key.repositoryId) ?? []), { key, name: deployment.name }]);
  }
  if (unknown.size === 0) return 0;
  let removed = 0;
  for await (const repository of repositories.repositories()) {
    for (const { key, name } of unknown.get(repository.repositoryId) ?? []) {
      const state = await githubApi.pullRequest({ repository, number: key.number });
      await previews.notify(repository, key.number, { isUnreachable: false });
      // It may be one that a workflow made: an open pull request keeps it.
      if (state?.isOpen) continue;
      const wanted = { kind: 'gone', code: 'closed', commit: state?.headSha ?? '', at: clock.now() } as const;
      await previews.want([{ key, name, wanted }], []);
      removed += 1;
    }
  }
  return removed;
}
