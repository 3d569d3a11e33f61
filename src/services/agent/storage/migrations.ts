import type { Migration } from '../../../kit/postgres/migrate.ts';
import { first } from './migrations/001-first.ts';
import { traceOutbox } from './migrations/002-trace-outbox.ts';
import { webhooks } from './migrations/010-webhooks.ts';
import { crons } from './migrations/020-crons.ts';
import { store } from './migrations/030-store.ts';
import { threads } from './migrations/040-threads.ts';
import { processes } from './migrations/050-processes.ts';
import { writesBefore } from './migrations/060-writes-before.ts';
import { searches } from './migrations/070-searches.ts';
import { threadStreams } from './migrations/080-thread-streams.ts';
import { storeVectors } from './migrations/090-store-vectors.ts';
import { tracedSteps } from './migrations/100-traced-steps.ts';
import { cronRuns } from './migrations/102-cron-runs.ts';
import { boundedHistories } from './migrations/103-bounded-histories.ts';
import { holds } from './migrations/104-holds.ts';
import { webhookHistory } from './migrations/101-webhook-history.ts';

/**
 * The migrations. The former revision may still be running, so a migration only adds: it drops no column that the
 * former one writes, and narrows none.
 */
export const migrations: readonly Migration[] = [
  first,
  traceOutbox,
  webhooks,
  crons,
  store,
  threads,
  processes,
  writesBefore,
  searches,
  threadStreams,
  storeVectors,
  tracedSteps,
  webhookHistory,
  cronRuns,
  boundedHistories,
  holds,
];
