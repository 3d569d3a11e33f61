import { sqlStep, type Migration } from '../../../kit/postgres/migrate.ts';
import { migrationsFrom001 } from './migrations/from-001.ts';
import { migrationsFrom020 } from './migrations/from-020.ts';
import { migrationsFrom070 } from './migrations/from-070.ts';

/** The Postgres schema that holds the control service's tables. */
export const controlSchema = 'control';

/** The steps that bring the schema `control` to the tables of `tables.ts`, in the order of their numbers. */
export const controlMigrations: readonly Migration[] = Object.entries({
  ...migrationsFrom001,
  ...migrationsFrom020,
  ...migrationsFrom070,
}).map(([name, statements]) => sqlStep(name, statements));
