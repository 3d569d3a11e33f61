import { type GitHubClient, paginate } from '../../src/github/client.ts';
import { storableText } from '../../src/kit/json-text.ts';
import {
  type BranchCheck,
  type CommitCheck,
  type CommitChecks,
  GitHubApiError,
  type InstallationRepository,
} from './github-api.ts';
import type { AppRoute } from './installation-clients.ts';

type Client = GitHubClient<AppRoute>;

/** More check runs of one commit, statuses, or rules are not read. */
const maxListed = 1_000;

/** Conclusions of a check run with which GitHub lets a branch be merged. */
const passing: readonly unknown[] = ['success', 'neutral', 'skipped'];

/** The check runs and commit statuses of a commit, of each name and App the newest. */
export async function readChecks(
  client: Client,
  { owner, name: repo }: InstallationRepository,
  commit: string,
): Promise<CommitChecks> {
  const place = { owner, repo, ref: commit };
  const newest = new Map<string, { id: number; check: CommitCheck }>();
  const runs = paginate(async (page) => {
    const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...place, ...page });
    return data.check_runs;
  });
  await forSome(runs, ({ id, name, status, conclusion, app }) => {
    const state = status !== 'completed' ? 'pending' : passing.includes(conclusion) ? 'passed' : 'failed';
    const key = `${app?.id ?? ''} ${name}`;
    // Two workflows may have made a check of one name: as for GitHub, the newest counts.
    if ((newest.get(key)?.id ?? -1) > Number(id)) return;
    newest.set(key, { id: Number(id), check: { name: storableText(name), state, ...appOf(app?.id) } });
  });
  const seen = [...newest.values()].map(({ check }) => check);
  const statuses = paginate(async (page) => {
    const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}/status', { ...place, ...page });
    return data.statuses;
  });
  const isRead = await unlessRefused(() =>
    forSome(statuses, ({ context, state }) => {
      const ofStatus = state === 'success' ? 'passed' : state === 'pending' ? 'pending' : 'failed';
      seen.push({ name: storableText(context), state: ofStatus });
    }),
  );
  return isRead ? { seen } : { seen, isUnread: true };
}

/** The checks that a branch requires, by its protection and by the rules of its repository. */
export async function readRequiredChecks(
  client: Client,
  { owner, name: repo }: InstallationRepository,
  branch: string,
): Promise<readonly BranchCheck[]> {
  const place = { owner, repo, branch };
  const { data } = await client.request('GET /repos/{owner}/{repo}/branches/{branch}', place);
  const { protection }: { protection?: typeof data.protection } = data;
  const { contexts = [], checks = [] } = protection?.required_status_checks ?? {};
  const required = checks.map(({ context, app_id: appId }) => ({ name: storableText(context), ...appOf(appId) }));
  const known = new Set(checks.map(({ context }) => context));
  for (const each of contexts) if (!known.has(each)) required.push({ name: storableText(each) });
  const rules = paginate(
    async (page) =>
      (await client.request('GET /repos/{owner}/{repo}/rules/branches/{branch}', { ...place, ...page })).data,
  );
  try {
    await forSome(rules, (rule) => {
      if (rule.type !== 'required_status_checks') return;
      for (const { context, integration_id: appId } of rule.parameters?.required_status_checks ?? []) {
        required.push({ name: storableText(context), ...appOf(appId) });
      }
    });
  } catch (error) {
    // Private repositories of free accounts have neither rules nor protection, and older servers no rules.
    const isNone = isRefusal(error, 404) || (isRefusal(error, 403) && !data.protected);
    if (!isNone) throw error;
  }
  return required;
}

/** GitHub says of any App that it is none, or -1. */
const appOf = (id: number | bigint | null | undefined): { appId?: number } =>
  id === null || id === undefined || Number(id) <= 0 ? {} : { appId: Number(id) };

async function forSome<Entry>(entries: AsyncIterable<Entry>, take: (entry: Entry) => void): Promise<void> {
  let count = 0;
  for await (const each of entries) {
    take(each);
    count += 1;
    if (count >= maxListed) return;
  }
}

/** Whether it was read: false where the App may not. Rethrows any other failure. */
async function unlessRefused(read: () => Promise<void>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (isRefusal(error, 403) || isRefusal(error, 404)) return false;
    throw error;
  }
}

const isRefusal = (error: unknown, status: 403 | 404): boolean =>
  error instanceof GitHubApiError && error.status === status;
