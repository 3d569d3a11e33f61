import type { Endpoints } from '@octokit/types';
import { ofRepository, paginate, type GitHubClient, type RepositoryName } from './client.ts';

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

export interface CheckKey {
  repository: RepositoryName;
  headSha: string;
  name: string;
  /** Our own id: it finds the check run again after a lost response. */
  externalId: string;
}

/** What GitHub takes of annotations in one request. */
const annotationsAtOnce = 50;
/** What it takes of an annotation, in characters: 64 KB of message, in which a character may be four bytes. */
const annotationMessage = 16_000;
const annotationTitle = 255;

/** The check run of our external id on the commit, on whatever page it is, and how many annotations it has. */
export async function findCheck(
  client: GitHubClient,
  at: CheckKey,
): Promise<{ id: number; annotations: number } | undefined> {
  const checks = paginate(async (page) => {
    const { data } = await client.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', {
      ...ofRepository(at.repository),
      ref: at.headSha,
      check_name: at.name,
      // Of runs with one name `latest` would show the newest alone.
      filter: 'all',
      ...page,
    });
    return data.check_runs;
  });
  for await (const { id, external_id, output } of checks)
    if (external_id === at.externalId) return { id: Number(id), annotations: output.annotations_count };
  return undefined;
}

/**
 * Creates or updates the check run. Without an `id` it searches first and creates only if none exists, so that a lost
 * response does not cause a duplicate. GitHub appends annotations on every request, so those that it already has (by
 * its own count) are not sent again. Returns the check run's id.
 */
export async function writeCheck(
  client: GitHubClient,
  at: CheckKey,
  id: number | undefined,
  check: Check,
): Promise<number> {
  const { status, conclusion } = check;
  // GitHub's document does not ask for it, but a check that is completed without a conclusion is shown as nothing.
  if ((status === 'completed') !== (conclusion !== undefined)) {
    throw new TypeError(`a check that is ${status} ${conclusion ? `cannot be ${conclusion}` : 'needs a conclusion'}`);
  }
  const annotations = check.annotations ?? [];
  const there =
    id === undefined
      ? await findCheck(client, at)
      : { id, annotations: annotations.length === 0 ? 0 : await annotationsOf(client, at, id) };
  let [written, sent] = [there?.id, there?.annotations ?? 0];
  do {
    const some = annotations.slice(sent, sent + annotationsAtOnce);
    const body = bodyOf(check, some);
    written = written === undefined ? await create(client, at, body) : await update(client, at, written, body);
    sent += some.length;
  } while (sent < annotations.length);
  return written;
}

async function annotationsOf(client: GitHubClient, { repository }: CheckKey, id: number): Promise<number> {
  const { data } = await client.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', {
    ...ofRepository(repository),
    check_run_id: id,
  });
  return data.output.annotations_count;
}

type Body = ReturnType<typeof bodyOf>;

async function create(client: GitHubClient, at: CheckKey, body: Body): Promise<number> {
  const { data } = await client.request('POST /repos/{owner}/{repo}/check-runs', {
    ...ofRepository(at.repository),
    name: at.name,
    head_sha: at.headSha,
    external_id: at.externalId,
    ...body,
  });
  return Number(data.id);
}

async function update(client: GitHubClient, { repository }: CheckKey, id: number, body: Body): Promise<number> {
  await client.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
    ...ofRepository(repository),
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
    // Sent when empty too: what is left out stays, and a button that makes no sense any more would too.
    actions: actions.map((each) => ({ ...each })),
  };
}

const annotationBody = ({ path, startLine, endLine, level, title, message }: Annotation) => ({
  path,
  start_line: startLine,
  end_line: endLine,
  annotation_level: level,
  message: fit(message, annotationMessage),
  ...(title === undefined ? {} : { title: fit(title, annotationTitle) }),
});

const fit = (text: string, limit: number): string =>
  (text.length > limit ? `${text.slice(0, limit - 1)}…` : text).toWellFormed();
