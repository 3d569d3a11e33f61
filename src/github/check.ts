import type { Endpoints } from '@octokit/types';
import { repositoryParameters, paginate, type GitHubClient, type RepositoryName } from './client.ts';

/** How a check run ended. */
export type CheckConclusion =
  'success' | 'failure' | 'neutral' | 'cancelled' | 'skipped' | 'timed_out' | 'action_required';

/** The desired state of a check run. Texts are sanitized Markdown, each within GitHub's 65,535 bytes. */
export interface Check {
  status: 'queued' | 'in_progress' | 'completed';
  /** Present exactly where `status` is `completed`. */
  conclusion?: CheckConclusion;
  title: string;
  summary: string;
  text?: string;
  detailsUrl?: string;
  /** ISO 8601 */
  startedAt?: string;
  completedAt?: string;
  /** At most three: label 20, description 40, identifier 20 characters. */
  actions?: readonly { label: string; description: string; identifier: string }[];
  annotations?: readonly Annotation[];
}

/** A remark on lines of a file of the commit. */
export interface Annotation {
  path: string;
  startLine: number;
  endLine: number;
  level: 'notice' | 'warning' | 'failure';
  title?: string;
  message: string;
}

/** Identifies a check run. */
export interface CheckKey {
  repository: RepositoryName;
  headSha: string;
  name: string;
  /** Our own id: it finds the check run again after a lost response. */
  externalId: string;
}

/** GitHub's limit of annotations in one request. */
const maxAnnotationsPerRequest = 50;
/**
 * The maximum lengths of an annotation, in characters: GitHub's limit is 64 KB, and a character may have four bytes.
 */
const maxMessageLength = 16_000;
const maxTitleLength = 255;

/** Finds the check run with our external id on the commit, and counts its annotations. */
export async function findCheck(
  client: GitHubClient,
  key: CheckKey,
): Promise<{ id: number; annotations: number } | undefined> {
  const checks = paginate(async (page) => {
    const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
      ...repositoryParameters(key.repository),
      ref: key.headSha,
      check_name: key.name,
      // `latest` would return only the newest of several runs with the same name.
      filter: 'all',
      ...page,
    });
    return data.check_runs;
  });
  for await (const { id, external_id, output } of checks)
    if (external_id === key.externalId) return { id: Number(id), annotations: output.annotations_count };
  return undefined;
}

/**
 * Creates or updates the check run. Without an `id` it searches first and creates only if none exists, so that a lost
 * response does not cause a duplicate. GitHub appends annotations on every request, so those that it already has (by
 * its own count) are not sent again. Returns the check run's id.
 */
export async function writeCheck(
  client: GitHubClient,
  key: CheckKey,
  id: number | undefined,
  check: Check,
): Promise<number> {
  const { status, conclusion } = check;
  // GitHub's API accepts a completed check without a conclusion, but does not show it.
  if ((status === 'completed') !== (conclusion !== undefined)) {
    throw new TypeError(`a check that is ${status} ${conclusion ? `cannot be ${conclusion}` : 'needs a conclusion'}`);
  }
  const annotations = check.annotations ?? [];
  const existing =
    id === undefined
      ? await findCheck(client, key)
      : { id, annotations: annotations.length === 0 ? 0 : await countAnnotations(client, key, id) };
  let [checkId, sentCount] = [existing?.id, existing?.annotations ?? 0];
  do {
    const batch = annotations.slice(sentCount, sentCount + maxAnnotationsPerRequest);
    const body = bodyOf(check, batch);
    checkId = checkId === undefined ? await create(client, key, body) : await update(client, key, checkId, body);
    sentCount += batch.length;
  } while (sentCount < annotations.length);
  return checkId;
}

async function countAnnotations(client: GitHubClient, { repository }: CheckKey, id: number): Promise<number> {
  const { data } = await client.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', {
    ...repositoryParameters(repository),
    check_run_id: id,
  });
  return data.output.annotations_count;
}

type Body = ReturnType<typeof bodyOf>;

async function create(client: GitHubClient, at: CheckKey, body: Body): Promise<number> {
  const { data } = await client.request('POST /repos/{owner}/{repo}/check-runs', {
    ...repositoryParameters(at.repository),
    name: at.name,
    head_sha: at.headSha,
    external_id: at.externalId,
    ...body,
  });
  return Number(data.id);
}

async function update(client: GitHubClient, { repository }: CheckKey, id: number, body: Body): Promise<number> {
  await client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
    ...repositoryParameters(repository),
    check_run_id: id,
    ...body,
  });
  return id;
}

type Output = Endpoints['POST /repos/{owner}/{repo}/check-runs']['parameters']['output'];

function bodyOf(check: Check, annotations: readonly Annotation[]) {
  const { status, conclusion, title, summary, text, detailsUrl, startedAt, completedAt, actions = [] } = check;
  const output: NonNullable<Output> = {
    title: title.toWellFormed(),
    summary: summary.toWellFormed(),
    ...(text === undefined ? {} : { text: text.toWellFormed() }),
    ...(annotations.length === 0 ? {} : { annotations: annotations.map(annotationBody) }),
  };
  return {
    ...(conclusion === undefined ? { status } : { status: 'completed' as const, conclusion }),
    ...(startedAt === undefined ? {} : { started_at: startedAt }),
    ...(completedAt === undefined ? {} : { completed_at: completedAt }),
    ...(detailsUrl === undefined ? {} : { details_url: detailsUrl }),
    output,
    // Sent even if empty, because GitHub keeps what is left out: a button without a use would stay.
    actions: actions.map((each) => ({ ...each })),
  };
}

const annotationBody = ({ path, startLine, endLine, level, title, message }: Annotation) => ({
  path,
  start_line: startLine,
  end_line: endLine,
  annotation_level: level,
  message: truncate(message, maxMessageLength),
  ...(title === undefined ? {} : { title: truncate(title, maxTitleLength) }),
});

const truncate = (text: string, limit: number): string =>
  (text.length > limit ? `${text.slice(0, limit - 1)}…` : text).toWellFormed();
