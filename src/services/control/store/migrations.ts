import type { Migration } from '../../../kit/postgres/migrate.ts';
import { tables } from './migrations/001-tables.ts';
import { writeKeys } from './migrations/002-write-keys.ts';
import { tenancy } from './migrations/010-tenancy.ts';
import { answeredWrites } from './migrations/011-answered-writes.ts';
import { uploads } from './migrations/020-uploads.ts';
import { retention } from './migrations/030-retention.ts';
import { agentUsers } from './migrations/040-agent-users.ts';
import { deletion } from './migrations/050-deletion.ts';
import { logChanges } from './migrations/051-log-changes.ts';
import { listenerWork } from './migrations/060-listener-work.ts';
import { githubInstallations } from './migrations/061-github-installations.ts';
import { tracedRuns } from './migrations/062-traced-runs.ts';
import { databaseNames } from './migrations/063-database-names.ts';
import { deletionStatus } from './migrations/064-deletion-status.ts';
import { sessions } from './migrations/070-sessions.ts';
import { revisionHistory } from './migrations/071-revision-history.ts';
import { health } from './migrations/072-health.ts';
import { holds } from './migrations/080-holds.ts';
import { baselines } from './migrations/081-baselines.ts';
import { runPreviews } from './migrations/083-run-previews.ts';
import { buildWarnings } from './migrations/084-build-warnings.ts';
import { listenerReports } from './migrations/074-listener-reports.ts';
import { tracedSteps } from './migrations/073-traced-steps.ts';

/** The Postgres schema that holds the control service's tables. */
export const controlSchema = 'control';

/** The steps that bring the schema `control` to the tables of `tables.ts`, in their order. */
export const controlMigrations: readonly Migration[] = [
  tables,
  writeKeys,
  tenancy,
  answeredWrites,
  uploads,
  retention,
  agentUsers,
  deletion,
  logChanges,
  listenerWork,
  githubInstallations,
  tracedRuns,
  databaseNames,
  deletionStatus,
  sessions,
  revisionHistory,
  health,
  tracedSteps,
  listenerReports,
  holds,
  baselines,
  runPreviews,
  buildWarnings,
];
