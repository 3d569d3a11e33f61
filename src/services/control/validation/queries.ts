import * as z from 'zod';
import { deploymentsQuery, deploymentStatuses } from '../../../contract/control/deployment.ts';
import { logQuery } from '../../../contract/control/log.ts';
import { revisionsQuery } from '../../../contract/control/revision.ts';
import { revisionStatuses } from '../../../contract/control/revision-status.ts';
import { deploymentType } from '../../../contract/control/source.ts';

const defaultLogPage = 50;

/** The statuses in a comma-separated list; an unknown one is a problem. */
export function statusesOf<Status extends string>(
  list: string | undefined,
  known: readonly Status[],
  context: z.RefinementCtx,
): Status[] | undefined {
  const words = (list ?? '').split(',').map((word) => word.trim());
  const given = words.filter((word) => word !== '');
  const isKnown = (word: string): word is Status => known.some((status) => status === word);
  const wrong = given.filter((word) => !isKnown(word));
  if (wrong.length > 0) {
    context.addIssue({ code: 'custom', path: ['status'], message: `There is no status ${wrong.join(', ')}` });
  }
  return given.length === 0 ? undefined : given.filter(isKnown);
}

/** A filter that is ignored where it is empty. */
const filter = z
  .string()
  .transform((written) => (written === '' ? undefined : written))
  .optional();

export const deploymentFilters = deploymentsQuery.extend({
  deployment_ids: z.array(z.uuid()).max(1_000).optional(),
  deployment_type: deploymentType.optional(),
});

/**
 * The query of a list of deployments: `deployment_ids` are UUIDs, `status` has comma-separated values, and empty
 * filters are ignored. Nothing here has tags, so that a filter by them finds nothing.
 */
export const deploymentsPage = deploymentFilters
  .extend({
    deployment_type: z.union([z.literal('').transform(() => undefined), deploymentType]).optional(),
    image_version: filter,
    name: filter,
    name_contains: filter,
    tag_value_ids: filter,
  })
  .transform(({ status, tag_value_ids, ...query }, context) => ({
    ...query,
    // Newer public clients know two statuses of a deletion.
    statuses: statusesOf(status?.replaceAll('AWAITING_FINAL_DELETE', 'AWAITING_DELETE'), deploymentStatuses, context),
    ...(tag_value_ids === undefined ? {} : { deployment_ids: [] }),
  }));

/** The query of a list of revisions: `status` has comma-separated values. */
export const revisionsPage = revisionsQuery.transform(({ status, ...query }, context) => ({
  ...query,
  statuses: statusesOf(status, revisionStatuses, context),
}));

const isoTime = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i;
const moment = z
  .string()
  .refine(
    (written) => isoTime.test(written) && !Number.isNaN(Date.parse(written)),
    'must be a date with a time, as in ISO 8601',
  )
  .transform((written) => new Date(written))
  .optional();

const cursor = z
  .string()
  .regex(/^\d{1,18}$/, 'must be the next_offset of a page before')
  .optional();
export const logKinds = z.enum(['build', 'deploy']).optional();
/** The levels that a log query accepts: those of our lines, and two that public clients know. */
export const logLevels = ['debug', 'info', 'warning', 'error', 'critical'] as const;
/** The fields of a log query; a level in any case, as public clients send capitals. */
export const logFields = logQuery.extend({
  offset: cursor,
  level: z.string().toLowerCase().pipe(z.enum(logLevels)).optional(),
  start_time: moment,
  end_time: moment,
});

function logPageOf({ order = 'asc', limit = defaultLogPage, ...requested }: z.infer<typeof logFields>) {
  const { offset, level, query, start_time, end_time } = requested;
  return { order, limit, after: offset, level, containing: query, from: start_time, until: end_time };
}

/** The body of a log query: every field may be absent or null. */
export const logPageQuery = z.preprocess(withoutNulls, logFields.transform(logPageOf));

const byQuery = logFields.extend({
  kind: logKinds,
  log_type: logKinds,
  sort_order: logQuery.shape.order,
});
/** The ids of the log, where they are in the query. */
export const logIds = z.object({ deployment_id: z.uuid(), revision_id: z.uuid().optional() });

function logByQueryOf({ kind, log_type, sort_order, ...requested }: z.infer<typeof byQuery>) {
  const page = logPageOf({ ...(sort_order === undefined ? {} : { order: sort_order }), ...requested });
  return { logKind: kind ?? log_type ?? 'deploy', page };
}

/** A log query in the URL: `kind`, or `log_type`, selects the log; the deploy log by default. */
export const logByQuery = z.preprocess(withoutNulls, byQuery.transform(logByQueryOf));

/** The same with the ids of the deployment and optionally the revision. */
export const logOfQuery = z.preprocess(
  withoutNulls,
  byQuery.extend(logIds.shape).transform(({ deployment_id, revision_id, ...requested }) => ({
    deployment_id,
    revision_id,
    ...logByQueryOf(requested),
  })),
);

/** The query of a log stream: `offset` is the id of the last known line, like `Last-Event-ID`. */
export const followQuery = z.preprocess(
  withoutNulls,
  logFields
    .pick({ offset: true, level: true, query: true })
    .extend({ kind: logKinds })
    .transform(({ kind = 'deploy', offset, level, query }) => ({
      logKind: kind,
      after: offset,
      level,
      containing: query,
    })),
);

/** The header with which a client resumes a stream. */
export const lastEventHeader = 'Last-Event-ID';
export const lastEvent = z.object({ [lastEventHeader]: cursor });

function withoutNulls(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
}

export const deletionQuery = z.strictObject({
  delete_tracing_project: z.boolean().optional(),
  without_listener: z.boolean().optional(),
});

/** The query of deleting several deployments: up to 100, each by its id. */
export const bulkDeletionQuery = deletionQuery.extend({
  deployment_ids: z.array(z.uuid().toLowerCase()).min(1).max(100),
});
