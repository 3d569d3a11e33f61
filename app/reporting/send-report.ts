import { messageOf } from '../../src/kit/errors.ts';
import { type CheckContent, type DeploymentContent, GitHubApiError, InstallationPaused } from '../github/github-api.ts';
import type { CommentContent, Report } from '../reconcile/report.ts';
import {
  commentBody,
  emptyComment,
  isCommentRefused,
  noteRefusedComment,
  refusedState,
} from '../pull-requests/comment.ts';
import type { AppContext } from '../context.ts';
import type { Pool } from 'pg';

/** The dependencies of reporting. */
export type ReportingContext = Pick<AppContext, 'clock' | 'store' | 'githubApi' | 'log' | 'random' | 'step'> & {
  reportLocks: ReportLocks;
};

/** Minimum interval between text-only updates of a check (ms): each counts against the rate limit. */
export const heartbeatMs = 15_000;

/** Minimum interval between edits of a comment (ms): its parts change at different times. */
export const betweenEditsMs = 3_000;

/** Minimum delay before a retry after a transient failure (ms). */
const betweenAttemptsMs = 15_000;

/** Delay before a report is retried that another process is sending (ms). */
const busyMs = 5_000;

/**
 * Brings GitHub in line with what is wanted of a report. It may be killed at any step and run again, in another process
 * at the same time: the check run or deployment is made once.
 *
 * @returns when to call again (ms since the epoch), if something is left to do
 * @throws GitHubApiError on a permanent refusal, for example because the repository is gone
 */
export async function sendReport(id: string, context: ReportingContext): Promise<{ again?: number }> {
  const reported = await context.reportLocks.exclusively(id, () => sendOnce(id, context));
  return reported ? reported.value : { again: context.clock.now() + busyMs };
}

async function sendOnce(id: string, context: ReportingContext): Promise<{ again?: number }> {
  const { clock, store, random, log } = context;
  const report = await store.report(id);
  if (!report || report.reportedVersion >= report.version) return {};
  const due = dueAt(report);
  if (due > clock.now()) return { again: due };
  try {
    const reported = await send(report, context);
    if (report.kind !== 'deployment') await context.step?.('check-written');
    await store.reported(id, { ...reported, version: report.version, at: clock.now() });
  } catch (error) {
    if (error instanceof InstallationPaused) return { again: Math.max(error.until, clock.now() + 1) };
    if (!(error instanceof GitHubApiError) || !passes(error)) throw error;
    log.warn({ report: id }, `The report ${report.name} could not be sent to GitHub yet: ${error.message}`);
    return { again: clock.now() + Math.round(betweenAttemptsMs * (1 + random())) };
  }
  // A newer version may have been stored while this one was sent, and its job found the report busy.
  const now = await store.report(id);
  return now && now.reportedVersion < now.version ? { again: Math.max(dueAt(now), clock.now()) } : {};
}

/** Whether a failure is transient: no response, or a server error. A refusal is final. */
const passes = ({ status }: GitHubApiError): boolean => status === undefined || status >= 500;

/** When a report is due (ms since the epoch): an outcome or a change of state at once, other changes less often. */
export function dueAt({ wanted, reported, reportedAt }: Pick<Report, 'wanted' | 'reported' | 'reportedAt'>): number {
  if (wanted.kind === 'comment') return reportedAt === undefined ? 0 : reportedAt + betweenEditsMs;
  if (wanted.kind === 'deployment' || wanted.content.status === 'completed') return 0;
  return reported?.state === wanted.content.status && reportedAt !== undefined ? reportedAt + heartbeatMs : 0;
}

function send(report: Report, context: ReportingContext): Promise<Pick<Report, 'githubId' | 'reported'>> {
  const { wanted } = report;
  switch (wanted.kind) {
    case 'check':
      return sendCheck(report, wanted.content, context.githubApi);
    case 'deployment':
      return sendDeployment(report, wanted.content, context);
    case 'comment':
      return sendComment(report, wanted.content, context);
  }
}

async function sendCheck(
  { id, repository, headSha, name, githubId, reported }: Report,
  content: CheckContent,
  githubApi: AppContext['githubApi'],
): Promise<Pick<Report, 'githubId' | 'reported'>> {
  const { annotations = [], ...rest } = content;
  // All were sent: asking GitHub how many it has is not needed any more.
  const left = githubId !== undefined && (reported?.annotations ?? 0) >= annotations.length ? [] : annotations;
  const at = { repository, headSha, name, externalId: id };
  const written = await githubApi.writeCheck(at, githubId, left.length > 0 ? { ...rest, annotations: left } : rest);
  return { githubId: written, reported: { annotations: annotations.length, state: content.status } };
}

async function sendDeployment(
  { id, repository, headSha, githubId, reported, reportedVersion }: Report,
  content: DeploymentContent,
  { githubApi, store, clock }: ReportingContext,
): Promise<Pick<Report, 'githubId' | 'reported'>> {
  const { state } = content;
  if (githubId === undefined && reported === undefined) {
    // Superseded before it was ever reported: report nothing.
    if (state === 'inactive') return { reported: { state } };
    // The GitHub Deployment may exist from here on, whatever the response: it must get a final status.
    await store.reported(id, { version: reportedVersion, at: clock.now(), reported: { state: 'requested' } });
  }
  const at = { repository, commit: headSha, externalId: id };
  const made = githubId ?? (await githubApi.makeDeployment(at, content));
  await githubApi.writeDeploymentStatus(at, made, content);
  return { githubId: made, reported: { state } };
}

/** Writes a comment. Where GitHub refuses it, the check of the head says so, and this version is not tried again. */
async function sendComment(
  { repository, githubId }: Report,
  content: CommentContent,
  context: ReportingContext,
): Promise<Pick<Report, 'githubId' | 'reported'>> {
  const written = commentBody(content);
  if (written === '' && githubId === undefined) return {};
  const pull = { repository, number: content.number };
  try {
    const id = await context.githubApi.writeComment(pull, githubId, written || emptyComment);
    return { githubId: id, reported: { state: 'written' } };
  } catch (error) {
    if (!isCommentRefused(error)) throw error;
    context.log.warn({ repository: repository.repositoryId }, `A comment was not written: ${messageOf(error)}`);
    const state = await context.githubApi.pullRequest(pull);
    if (state) await noteRefusedComment(context, { repository, headSha: state.headSha });
    return { reported: { state: refusedState } };
  }
}

/** Serializes the sending of a report: two at once would make two check runs. */
export interface ReportLocks {
  /** Runs the work under a lock; returns undefined without running it if the lock is held. */
  exclusively<Value>(reportId: string, work: () => Promise<Value>): Promise<{ value: Value } | undefined>;
}

/** Locks within one process. */
export function localReportLocks(): ReportLocks {
  const held = new Set<string>();
  return {
    exclusively: async (reportId, work) => {
      if (held.has(reportId)) return undefined;
      held.add(reportId);
      try {
        return { value: await work() };
      } finally {
        held.delete(reportId);
      }
    },
  };
}

/** Our part of the database's numbers for locks; the other half of a lock's number is the report's. */
const lockClass = 0x6c_66_72;

/**
 * Locks that all copies of the App on one database share. A lock belongs to a connection of the pool for as long as the
 * work takes, and ends with it: one of a process that was killed is free at once.
 */
export function sharedReportLocks(pool: Pool): ReportLocks {
  const local = localReportLocks();
  const locked = async <Value>(reportId: string, work: () => Promise<Value>): Promise<{ value: Value } | undefined> => {
    const client = await pool.connect();
    // A connection that broke, or whose lock could not be given back, must not be used again.
    let intact = false;
    try {
      const lock = [lockClass, reportId];
      const { rows } = await client.query<{ got: boolean }>(
        'select pg_try_advisory_lock($1, hashtext($2)) as got',
        lock,
      );
      const got = rows[0]?.got === true;
      try {
        return got ? { value: await work() } : undefined;
      } finally {
        if (got) await client.query('select pg_advisory_unlock($1, hashtext($2))', lock);
        intact = true;
      }
    } finally {
      client.release(!intact);
    }
  };
  return {
    exclusively: async (reportId, work) => (await local.exclusively(reportId, () => locked(reportId, work)))?.value,
  };
}
