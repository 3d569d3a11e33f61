import type { Probot } from 'probot';
import type { Clock } from '../src/clock.ts';
import type { Database } from '../src/postgres/database.ts';
import type { Queue } from '../src/postgres/queue.ts';
import type { Deliveries } from './inbox/deliveries.ts';
import type { InboxTables } from './inbox/tables.ts';
import type { RegisterHandlers } from './index.ts';
import type { AppMetrics } from './operate/metrics.ts';
import type { Route } from './server/router.ts';
import type { Settings } from './settings/settings.ts';
import type { AppContext } from './context.ts';

/** What the App's work is built on. */
export interface AppResources {
  settings: Settings;
  clock: Clock;
  log: AppContext['log'];
  /** The App's database; its tables are in the schema `app`. */
  database: Database<InboxTables> & {
    /** With user and password: a secret. */
    url: string;
  };
  queue: Queue;
  probot: Probot;
  deliveries: Deliveries;
  decided: NonNullable<AppContext['decided']>;
  metrics: AppMetrics;
  /** The database is this process's alone. */
  alone: boolean;
  /** Aborts on shutdown: work stops at its next step. */
  leaving: AbortSignal;
}

/** The App's work: what is done about deliveries once they are stored. */
export interface AppWork {
  context: AppContext;
  register: RegisterHandlers;
  /** Routes besides webhooks and those for the operator. */
  routes: readonly Route[];
  /** When (ms since the epoch) the oldest open intent of each busy deployment queue was created. */
  busySince: () => Promise<readonly number[]>;
  /** Starts what works on jobs, until the queue stops. */
  begin(): Promise<void>;
  /** Called when the database was unavailable, to search for missed work afterwards. */
  onDatabaseAway(): void;
  /** Called when the queue has stopped. */
  close(): Promise<void>;
}
