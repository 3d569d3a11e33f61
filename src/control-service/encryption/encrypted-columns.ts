/** How a column stores its envelopes: as text, or as a string of `jsonb`. */
export type Held = 'text' | 'json';

/**
 * The columns that are encrypted at rest, in every table of the schema `control`. Results are decrypted by column name, so
 * an unencrypted column must not have one of these names.
 */
export const sealedColumns: ReadonlyMap<string, Held> = new Map<string, Held>([
  ['secrets', 'json'],
  ['database_password', 'text'],
  ['answer', 'text'],
]);

/** The tables with encrypted columns, each with the column that identifies its rows. */
export const sealedTables = [
  { table: 'deployments', column: 'secrets', held: 'json' },
  { table: 'deployments', column: 'database_password', held: 'text' },
  { table: 'revisions', column: 'secrets', held: 'json' },
  { table: 'write_keys', column: 'answer', held: 'text' },
] as const;
