import { FINAL_RUN_STATUSES } from '../../contract/agent/run.ts';
import type { FinalRunStatus } from '../../contract/agent/run.ts';
import { tracedRunsQuery, tracingProjectsQuery } from '../../contract/control/tracing-project.ts';
import { statusesOf } from './queries.ts';

/** Listing tracing projects. */
export const tracingProjectsPage = tracingProjectsQuery;

const isFinalStatus = (word: string): word is FinalRunStatus => FINAL_RUN_STATUSES.some((status) => status === word);

/** Listing a project's runs: `status` holds words with commas between them. */
export const tracedRunsPage = tracedRunsQuery.transform(({ status, ...query }, context) => ({
  ...query,
  statuses: statusesOf(status, isFinalStatus, context),
}));
