import { finalRunStatuses } from '../../contract/agent/run.ts';
import type { FinalRunStatus } from '../../contract/agent/run.ts';
import { tracedRunsQuery, tracingProjectsQuery } from '../../contract/control/tracing-project.ts';
import { statusesOf } from '../validation/queries.ts';

/** The query of a list of tracing projects. */
export const tracingProjectsPage = tracingProjectsQuery;

const isFinalStatus = (word: string): word is FinalRunStatus => finalRunStatuses.some((status) => status === word);

/** The query of a project's runs: `status` has comma-separated values. */
export const tracedRunsPage = tracedRunsQuery.transform(({ status, ...query }, context) => ({
  ...query,
  statuses: statusesOf(status, isFinalStatus, context),
}));
