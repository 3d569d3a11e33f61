import * as z from 'zod';
import { deploymentsQuery, deploymentStatuses } from '../../contract/control/deployment.ts';
import type { DeploymentStatus } from '../../contract/control/deployment.ts';
import { logQuery } from '../../contract/control/log.ts';
import { revisionsQuery, revisionStatusClasses } from '../../contract/control/revision.ts';
import type { RevisionStatus } from '../../contract/control/revision.ts';

/** How many log lines a page holds when the caller does not say. */
export const defaultLogPage = 50;

const isDeploymentStatus = (word: string): word is DeploymentStatus =>
  deploymentStatuses.some((status) => status === word);
const isRevisionStatus = (word: string): word is RevisionStatus => Object.hasOwn(revisionStatusClasses, word);

/** The status words of a list with commas between them; one that does not exist is told. */
function statusesOf<Status extends string>(
  list: string | undefined,
  isStatus: (word: string) => word is Status,
  context: z.RefinementCtx,
): Status[] | undefined {
  const words = list
    ?.split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const wrong = words?.filter((word) => !isStatus(word)) ?? [];
  if (wrong.length > 0) {
    context.addIssue({ code: 'custom', path: ['status'], message: `There is no status ${wrong.join(', ')}` });
  }
  return words?.filter(isStatus);
}

/** Listing deployments: `deployment_ids` are uuids, `status` holds words with commas between them. */
export const deploymentsPage = deploymentsQuery
  .extend({ deployment_ids: z.array(z.uuid()).max(1_000).optional() })
  .transform(({ status, ...query }, context) => ({
    ...query,
    statuses: statusesOf(status, isDeploymentStatus, context),
  }));

/** Listing revisions: `status` holds words with commas between them. */
export const revisionsPage = revisionsQuery.transform(({ status, ...query }, context) => ({
  ...query,
  statuses: statusesOf(status, isRevisionStatus, context),
}));

/** Listing what has pages and no filters. */
export const plainPage = revisionsQuery.omit({ status: true });

const isoTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
const moment = z
  .string()
  .refine(
    (written) => isoTime.test(written) && !Number.isNaN(Date.parse(written)),
    'must be a date with a time, as in ISO 8601',
  )
  .transform((written) => new Date(written))
  .optional();

/** Asking for a log: everything may be left out or null. */
export const logPageQuery = z.preprocess(
  withoutNulls,
  logQuery
    .extend({
      offset: z
        .string()
        .regex(/^\d{1,18}$/, 'must be the next_offset of a page before')
        .optional(),
      start_time: moment,
      end_time: moment,
    })
    .transform(({ order = 'asc', limit = defaultLogPage, offset, level, query, start_time, end_time }) => ({
      order,
      limit,
      after: offset || undefined,
      level: level || undefined,
      containing: query || undefined,
      from: start_time,
      until: end_time,
    })),
);

function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
}

/** Deleting one deployment. */
export const deletionQuery = z.strictObject({ delete_tracing_project: z.boolean().optional() });

/** Deleting several at once: up to 100, each by its id. */
export const bulkDeletionQuery = deletionQuery.extend({
  deployment_ids: z.array(z.uuid().toLowerCase()).min(1).max(100),
});
