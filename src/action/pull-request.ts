import type { PullRequest } from '../deploy/machine/preview.ts';
import { repositoryParameters, type GitHubClient, type RepositoryName } from '../github/client.ts';
import { lacksPermission } from '../github/refusal.ts';
import { messageOf } from '../kit/errors.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import type { RunEvent } from './run-event.ts';
import { numberOf, textAt, valueAt } from './workflow.ts';

/** The pull request of a run. */
export interface PullRequestRun {
  pull: PullRequest;
  /** The commit that the event is about; absent: a person started the run. */
  eventSha?: string | undefined;
  isRequested: boolean;
}

/** The events that GitHub sends by itself; every other one is of a person who wants a preview. */
const ofPullRequests = new Set(['pull_request', 'pull_request_target']);

/** What a run can read of GitHub. */
export interface PullRequestReader {
  client: GitHubClient | undefined;
  repository: RepositoryName;
  warn: (message: string) => void;
}

/**
 * Reads the pull request as it is now: a run may be late, or be run again. Where it can't be read, the event counts.
 * Undefined where there is none.
 */
export async function readPullRequest(
  { eventName, payload }: RunEvent,
  number: number | undefined,
  reader: PullRequestReader,
): Promise<PullRequestRun | undefined> {
  const read = pullOf(payload['pull_request']);
  const ofEvent = number === undefined || number === read?.number ? read : undefined;
  const pull = (await lookUp(number ?? read?.number, reader)) ?? ofEvent;
  if (!pull) return undefined;
  if (!ofPullRequests.has(eventName)) return { pull, isRequested: true };
  return { pull, isRequested: false, eventSha: ofEvent?.headSha };
}

/** A pull request as GitHub's events and its API have it; undefined for anything else. */
function pullOf(read: unknown): PullRequest | undefined {
  const [head, base] = [valueAt(read, 'head'), valueAt(valueAt(read, 'base'), 'repo')];
  const [number, repositoryId, repositoryUrl] = [numberOf(read), valueAt(base, 'id'), textAt(base, 'html_url')];
  const [headRef, headSha, headRepository] = [textAt(head, 'ref'), textAt(head, 'sha'), valueAt(head, 'repo')];
  if (number === undefined || typeof repositoryId !== 'number' || repositoryUrl === undefined) return undefined;
  if (headRef === undefined || headSha === undefined) return undefined;
  const labels = valueAt(read, 'labels');
  return {
    repositoryId,
    number,
    repositoryUrl,
    headUrl: textAt(headRepository, 'html_url'),
    headRef,
    headSha,
    isFork: valueAt(headRepository, 'id') !== repositoryId,
    isOpen: textAt(read, 'state') !== 'closed',
    labels: Array.isArray(labels) ? labels.flatMap((each: unknown) => textAt(each, 'name') ?? []) : [],
  };
}

async function lookUp(number: number | undefined, { client, repository: of, warn }: PullRequestReader) {
  if (!client || number === undefined) return undefined;
  try {
    return pullOf(await getPull(number, client, of));
  } catch (error) {
    const permission = lacksPermission(error) ? '; give the job `permissions: pull-requests: read`' : '';
    const why = asLine(messageOf(error), 300).replace(/\.$/, '');
    warn(`Pull request ${number} was not read: ${why}. The event of this run is used instead${permission}.`);
    return undefined;
  }
}

async function getPull(number: number, client: GitHubClient, of: RepositoryName) {
  const parameters = { ...repositoryParameters(of), pull_number: number };
  return (await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', parameters)).data;
}

/** Whether a pull request is closed; undefined where that can't be read. */
export async function isPullRequestClosed(
  number: number,
  { client, repository: of }: Pick<PullRequestReader, 'client' | 'repository'>,
): Promise<boolean | undefined> {
  if (!client) return undefined;
  try {
    return (await getPull(number, client, of)).state === 'closed';
  } catch {
    // What is not known to be closed stays.
    return undefined;
  }
}
