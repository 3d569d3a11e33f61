import { hasCommit } from '../git/commits.ts';
import { invalid, Refusal, textAt, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { paged } from '../page.ts';
import { demand, isoNow, nodeId, repositoryFor, repositoryUrl, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { accountAnswer, botOf } from './accounts.ts';
import { commitOf } from './git-routes.ts';
import { repositoryAnswer } from './repository-answers.ts';

interface StatusRecord {
  id: number;
  repositoryId: number;
  sha: string;
  state: string;
  context: string;
  description: string | null;
  targetUrl: string | null;
  at: string;
}

/** Statuses of commits, oldest first. */
export class StatusRecords {
  readonly #all: StatusRecord[] = [];

  add(made: Omit<StatusRecord, 'id'>): StatusRecord {
    const record = { id: this.#all.length + 1, ...made };
    this.#all.push(record);
    return record;
  }

  /** Newest first. */
  of(repositoryId: number, sha: string): StatusRecord[] {
    return this.#all.filter((each) => each.repositoryId === repositoryId && each.sha === sha).reverse();
  }
}

const states = new Set(['error', 'failure', 'pending', 'success']);

/** What both kinds of status hold at most of a description, in characters. */
export const mostDescription = 140;

export async function createStatus(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'statuses', 'write');
  const { body } = call;
  const sha = call.params['sha'] ?? '';
  if (!(await hasCommit(repository.folder, sha))) throw new Refusal(422, `No commit found for SHA: ${sha}`);
  const state = textAt(body, 'state') ?? '';
  const description = textAt(body, 'description') ?? null;
  if (!states.has(state)) throw invalid('Status', 'state', 'state is not included in the list');
  if (description !== null && description.length > mostDescription) {
    throw invalid('Status', 'description', 'description is too long (maximum is 140 characters)');
  }
  const record = site.statuses.add({
    repositoryId: repository.id,
    sha,
    state,
    context: textAt(body, 'context') ?? 'default',
    description,
    targetUrl: textAt(body, 'target_url') ?? null,
    at: isoNow(site),
  });
  return { status: 201, body: { ...answerOf(site, repository, record), creator: accountAnswer(site, botOf(site)) } };
}

function answerOf(site: Site, repository: Repository, record: StatusRecord): JsonObject {
  return {
    url: `${repositoryUrl(site, repository)}/statuses/${record.sha}`,
    avatar_url: `${site.url}/avatars/${site.app.slug}`,
    id: record.id,
    node_id: nodeId('Status', record.id),
    state: record.state,
    description: record.description,
    target_url: record.targetUrl,
    context: record.context,
    created_at: record.at,
    updated_at: record.at,
  };
}

export async function listStatuses(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'statuses', 'read');
  const sha = await commitOf(repository, call.params['ref'] ?? '');
  const creator = accountAnswer(site, botOf(site));
  const answers = site.statuses
    .of(repository.id, sha)
    .map((record) => ({ ...answerOf(site, repository, record), creator }));
  return paged(call, site.url, answers);
}

/** Of every context the newest, and what they are together. */
export async function combinedStatus(call: ApiCall, site: Site): Promise<Answer> {
  const repository = repositoryFor(site, call.params, call.who);
  demand(call.who, repository, 'statuses', 'read');
  const sha = await commitOf(repository, call.params['ref'] ?? '');
  const newest = newestOf(site, repository, sha);
  const state = newest.some((each) => each.state === 'failure' || each.state === 'error')
    ? 'failure'
    : newest.length > 0 && newest.every((each) => each.state === 'success')
      ? 'success'
      : 'pending';
  const whole = await repositoryAnswer(site, repository);
  const url = `${repositoryUrl(site, repository)}/commits/${sha}`;
  return paged(
    call,
    site.url,
    newest.map((record) => answerOf(site, repository, record)),
    (statuses) => ({
      state,
      statuses,
      sha,
      total_count: newest.length,
      repository: whole,
      commit_url: url,
      url: `${url}/status`,
    }),
  );
}

/** The newest status of every context of a commit. */
export const newestOf = (site: Site, repository: Repository, sha: string): StatusRecord[] => [
  ...new Map(
    site.statuses
      .of(repository.id, sha)
      .toReversed()
      .map((record) => [record.context, record]),
  ).values(),
];
