/** How a column holds what is sealed: as text, or as a string of `jsonb`. */
export type Held = 'text' | 'json';

/**
 * The columns whose values are sealed at rest, in whichever table of the schema `control` they are. A name is no name of
 * an open column elsewhere: what is read is told by it.
 */
export const sealedColumns: ReadonlyMap<string, Held> = new Map<string, Held>([
  ['secrets', 'json'],
  ['database_password', 'text'],
  ['answer', 'text'],
]);

/** The tables that have such columns, with the column that tells their rows apart. */
export const sealedTables = [
  { table: 'deployments', column: 'secrets', held: 'json' },
  { table: 'deployments', column: 'database_password', held: 'text' },
  { table: 'revisions', column: 'secrets', held: 'json' },
  { table: 'write_keys', column: 'answer', held: 'text' },
] as const;
