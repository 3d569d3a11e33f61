import { repositoryAnswer } from '../answers/accounts.ts';
import { textAt, type JsonObject } from '../exchange.ts';
import { contains, listCommits, noCommit, pathsOf, readOne, type GitCommit, git } from '../git/commits.ts';
import { utc, webUrl, type RefChange, type Repository, type Site } from '../site.ts';
import { deliver } from './deliver.ts';

/** The refs that differ, by name. */
export function changesBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): RefChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((ref) => ({ ref, before: before.get(ref) ?? noCommit, after: after.get(ref) ?? noCommit }))
    .filter((change) => change.before !== change.after);
}

/** GitHub sends no event for a push of more tags at once, and names no more commits. */
const maxTags = 3;
const maxCommits = 2048;

/** Delivers all events of a push of `changes`, in GitHub's order. */
export async function deliverPush(
  site: Site,
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
    const kind = { ref: name, ref_type: isBranch ? 'branch' : 'tag', pusher_type: 'user' };
    if (after === noCommit) await deliver(site, repository, 'delete', kind, by);
    await deliver(site, repository, 'push', await pushPayload(site, repository, change, by), by);
    if (isBranch && after !== noCommit) await site.extension.pushed?.(site, repository, name, change, by);
  }
}

async function pushPayload(
  site: Site,
  repository: Repository,
  change: RefChange,
  login = site.administrator,
): Promise<JsonObject> {
  const { ref, before, after } = change;
  const { folder } = repository;
  const [created, deleted] = [before === noCommit, after === noCommit];
  const head = deleted ? undefined : await git(folder, 'rev-parse', `${after}^{commit}`);
  const forced = !created && head !== undefined && !(await contains(folder, head, before));
  const commits = head === undefined ? [] : await newCommits(folder, ref, before, head);
  const reported = head === undefined ? [] : [...commits, await readOne(folder, head)];
  const paths = await pathsOf(
    folder,
    reported.map(({ sha }) => sha),
  );
  const show = (commit: GitCommit): JsonObject => ({
    ...commitInEvent(commit),
    distinct: true,
    url: `${webUrl(site, repository)}/commit/${commit.sha}`,
    ...(paths.get(commit.sha) ?? { added: [], removed: [], modified: [] }),
  });
  const last = reported.at(-1);
  return {
    ref,
    before,
    after,
    repository: await pushedRepository(site, repository),
    pusher: { name: login, email: `${login}@users.noreply.github.com` },
    created,
    deleted,
    forced,
    base_ref: null,
    compare: `${webUrl(site, repository)}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    commits: ref.startsWith('refs/tags/') ? [] : commits.map(show),
    head_commit: last ? show(last) : null,
  };
}

/** What the push brought: for a new branch what no other branch had. */
async function newCommits(folder: string, ref: string, before: string, head: string): Promise<GitCommit[]> {
  const known =
    before === noCommit ? ['--not', `--exclude=${ref.replace('refs/heads/', '')}`, '--branches'] : ['--not', before];
  return listCommits(folder, `--max-count=${maxCommits}`, '--reverse', head, ...known);
}

/** A commit as merge groups and pushes name it. */
export const commitInEvent = ({ sha, tree, message, author, committer }: GitCommit): JsonObject => ({
  id: sha,
  tree_id: tree,
  message,
  timestamp: utc(committer.date),
  author: { name: author.name, email: author.email },
  committer: { name: committer.name, email: committer.email },
});

/** A push's repository differs from all others: its times are seconds, and its owner has a name. */
async function pushedRepository(site: Site, repository: Repository): Promise<JsonObject> {
  const answer = await repositoryAnswer(site, repository);
  const seconds = (name: string): number =>
    Math.floor(Date.parse(textAt(answer, name) ?? '1970-01-01T00:00:00Z') / 1000);
  const { owner } = answer;
  return {
    ...answer,
    owner: { name: repository.owner, email: null, ...(typeof owner === 'object' ? owner : {}) },
    url: webUrl(site, repository),
    created_at: seconds('created_at'),
    pushed_at: Math.floor(Date.now() / 1000),
    stargazers: 0,
    master_branch: repository.defaultBranch,
    organization: repository.owner,
  };
}
