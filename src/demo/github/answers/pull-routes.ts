import { isObject } from '../../../contract/json-object.ts';
import { git, runGit } from '../git/run-git.ts';
import { listCommits, resolveCommit } from '../git/commits.ts';
import { invalid, notFound, numberAt, textAt, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { paged } from '../page.ts';
import { demand, repositoryFor, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { deliverPull } from '../events/pull-events.ts';
import { commitAnswer, fileAnswer } from './commit-answers.ts';
import { completePull, filesOf, pullAnswer } from './pull-answers.ts';
import type { PullRecord } from './pull-records.ts';

function readable(site: Site, { params, who }: ApiCall): Repository {
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'pull_requests', 'read');
  return repository;
}

function recordOf(site: Site, repository: Repository, { params }: ApiCall): PullRecord {
  const record = site.pulls.byNumber(repository.id, Number(params['pull_number']));
  if (!record) throw notFound();
  return record;
}

/** The repository and branch that `head` names: a plain branch, or `owner:branch` of a fork. */
function headOf(site: Site, repository: Repository, head: string): { from: Repository | undefined; ref: string } {
  const colon = head.indexOf(':');
  const owner = colon < 0 ? repository.owner : head.slice(0, colon);
  const ref = head.slice(colon + 1);
  if (owner.toLowerCase() === repository.owner.toLowerCase()) return { from: repository, ref };
  return { from: site.repositories.byName(`${owner}/${repository.name}`), ref };
}

/** Has the head lie in the base repository, under the ref that GitHub keeps for every pull request. */
export async function fetchHead(base: Repository, head: Repository, record: PullRecord): Promise<void> {
  const ref = `refs/pull/${record.number}/head`;
  if (base !== head) await git(base.folder, 'fetch', '--quiet', head.folder, `+refs/heads/${record.headRef}:${ref}`);
  else await runGit(base.folder, ['update-ref', ref, record.headSha]);
}

export async function createPull(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'pull_requests', 'write');
  const { body } = call;
  const { from, ref } = headOf(site, repository, textAt(body, 'head') ?? '');
  const headSha = from && (await resolveCommit(from.folder, `refs/heads/${ref}`));
  if (!from || headSha === undefined) throw invalid('PullRequest', 'head', 'head does not exist');
  const baseRef = textAt(body, 'base') ?? '';
  const baseSha = await resolveCommit(repository.folder, `refs/heads/${baseRef}`);
  if (baseSha === undefined) throw invalid('PullRequest', 'base', 'base does not exist');
  if (headSha === baseSha) throw invalid('PullRequest', 'head', `No commits between ${baseRef} and ${ref}`);
  const { status, body: made } = await site.emulated.ask('POST', call.path, call.headers['authorization'], body);
  if (status !== 201 || !isObject(made)) return { status, body: made };
  const record: PullRecord = {
    id: numberAt(made, 'id') ?? 0,
    number: numberAt(made, 'number') ?? 0,
    repositoryId: repository.id,
    headRepositoryId: from.id,
    headRef: ref,
    headSha,
    baseRef,
    baseSha,
    isOpen: true,
  };
  site.pulls.keep(record);
  await fetchHead(repository, from, record);
  const answer = await completePull(site, repository, record, made);
  await deliverPull(site, repository, 'opened', answer);
  return { status, body: answer };
}

export async function listPulls(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const search = call.query.size > 0 ? `?${call.query.toString()}` : '';
  const { status, body } = await site.emulated.ask('GET', `${call.path}${search}`, call.headers['authorization']);
  if (status !== 200 || !Array.isArray(body)) return { status, body };
  const answers: JsonObject[] = [];
  for (const each of body) {
    const record = isObject(each) ? site.pulls.byNumber(repository.id, numberAt(each, 'number') ?? 0) : undefined;
    if (record && isObject(each)) answers.push(await completePull(site, repository, record, each));
  }
  return { status, body: answers };
}

export async function getPull(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  return { status: 200, body: await pullAnswer(site, repository, recordOf(site, repository, call)) };
}

export async function updatePull(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'pull_requests', 'write');
  const record = recordOf(site, repository, call);
  const { status, body } = await site.emulated.ask('PATCH', call.path, call.headers['authorization'], call.body);
  if (status !== 200 || !isObject(body)) return { status, body };
  const wasOpen = record.isOpen;
  record.isOpen = body['state'] === 'open';
  const answer = await completePull(site, repository, record, body);
  const action = wasOpen === record.isOpen ? 'edited' : record.isOpen ? 'reopened' : 'closed';
  await deliverPull(site, repository, action, answer);
  return { status, body: answer };
}

export async function listPullFiles(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const record = recordOf(site, repository, call);
  const files = await filesOf(repository, record);
  const answers = files.map((file) => fileAnswer(site, repository, record.headSha, file));
  return paged(call, site.url, answers);
}

export async function listPullCommits(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const { baseSha, headSha } = recordOf(site, repository, call);
  const commits = await listCommits(repository.folder, '--reverse', `${baseSha}..${headSha}`);
  return paged(
    call,
    site.url,
    commits.map((commit) => commitAnswer(site, repository, commit)),
  );
}

/** The pull requests that a commit is the head of. */
export async function listPullsOfCommit(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const sha = await resolveCommit(repository.folder, call.params['commit_sha'] ?? '');
  const records = site.pulls.of(repository.id).filter(({ headSha }) => headSha === sha);
  const answers = await Promise.all(records.map((record) => pullAnswer(site, repository, record)));
  return paged(call, site.url, answers);
}
