import { repositoryAnswer } from '../answers/accounts.ts';
import { textAt, type JsonObject } from '../exchange.ts';
import { contains, listCommits, noCommit, changedPaths, readCommit, type GitCommit, git } from '../git/commits.ts';
import { utc, webUrl, type RefChange, type Repository, type GitHubState } from '../state.ts';
import { deliver } from './deliver.ts';

/** The refs that differ, sorted by name. */
export function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): RefChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((ref) => ({ ref, before: before.get(ref) ?? noCommit, after: after.get(ref) ?? noCommit }))
    .filter((change) => change.before !== change.after);
}

/** GitHub sends no tag events for a push of more tags than this, and lists at most so many commits. */
const maxTags = 3;
const maxCommits = 2048;

/** Delivers all events of a push of `changes`, in GitHub's order. */
export async function deliverPush(
  state: GitHubState,
  repository: Repository,
  changes: readonly RefChange[],
  by?: string,
): Promise<void> {
  const hasManyTags = changes.filter(({ ref }) => ref.startsWith('refs/tags/')).length > maxTags;
  for (const change of changes) {
    const { ref, after } = change;
    const isBranch = ref.startsWith('refs/heads/');
    if (!isBranch && hasManyTags) continue;
    const name = ref.replace(/^refs\/(heads|tags)\//, '');
    const refPayload = { ref: name, ref_type: isBranch ? 'branch' : 'tag', pusher_type: 'user' };
    if (after === noCommit) await deliver(state, repository, 'delete', refPayload, by);
    await deliver(state, repository, 'push', await pushPayload(state, repository, change, by), by);
    if (isBranch && after !== noCommit) await state.testHooks.onPush?.(state, repository, name, change, by);
  }
}

async function pushPayload(
  state: GitHubState,
  repository: Repository,
  change: RefChange,
  login = state.administrator,
): Promise<JsonObject> {
  const { ref, before, after } = change;
  const { folder } = repository;
  const [created, deleted] = [before === noCommit, after === noCommit];
  const head = deleted ? undefined : await git(folder, 'rev-parse', `${after}^{commit}`);
  const forced = !created && head !== undefined && !(await contains(folder, head, before));
  const commits = head === undefined ? [] : await newCommits(folder, ref, before, head);
  const reported = head === undefined ? [] : [...commits, await readCommit(folder, head)];
  const paths = await changedPaths(
    folder,
    reported.map(({ sha }) => sha),
  );
  const toPayload = (commit: GitCommit): JsonObject => ({
    ...commitInEvent(commit),
    distinct: true,
    url: `${webUrl(state, repository)}/commit/${commit.sha}`,
    ...(paths.get(commit.sha) ?? { added: [], removed: [], modified: [] }),
  });
  const headCommit = reported.at(-1);
  return {
    ref,
    before,
    after,
    repository: await pushedRepository(state, repository),
    pusher: { name: login, email: `${login}@users.noreply.github.com` },
    created,
    deleted,
    forced,
    base_ref: null,
    compare: `${webUrl(state, repository)}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    commits: ref.startsWith('refs/tags/') ? [] : commits.map(toPayload),
    head_commit: headCommit ? toPayload(headCommit) : null,
  };
}

/** The commits that a push added; for a new branch those that no other branch contains. */
async function newCommits(folder: string, ref: string, before: string, head: string): Promise<GitCommit[]> {
  const excluded =
    before === noCommit ? ['--not', `--exclude=${ref.replace('refs/heads/', '')}`, '--branches'] : ['--not', before];
  return listCommits(folder, `--max-count=${maxCommits}`, '--reverse', head, ...excluded);
}

/** A commit as merge groups and pushes contain it. */
export const commitInEvent = ({ sha, tree, message, author, committer }: GitCommit): JsonObject => ({
  id: sha,
  tree_id: tree,
  message,
  timestamp: utc(committer.date),
  author: { name: author.name, email: author.email },
  committer: { name: committer.name, email: committer.email },
});

/** The repository in a push event differs from all others: its times are seconds, and its owner has a name. */
async function pushedRepository(state: GitHubState, repository: Repository): Promise<JsonObject> {
  const answer = await repositoryAnswer(state, repository);
  const seconds = (name: string): number =>
    Math.floor(Date.parse(textAt(answer, name) ?? '1970-01-01T00:00:00Z') / 1000);
  const { owner } = answer;
  return {
    ...answer,
    owner: { name: repository.owner, email: null, ...(typeof owner === 'object' ? owner : {}) },
    url: webUrl(state, repository),
    created_at: seconds('created_at'),
    pushed_at: Math.floor(Date.now() / 1000),
    stargazers: 0,
    master_branch: repository.defaultBranch,
    organization: repository.owner,
  };
}
