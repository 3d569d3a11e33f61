import type { ColumnType } from 'kysely';

/** JSON is written as text and read as a value. */
export type Json<T> = ColumnType<T, string, string>;
/** Written once. */
export type Fixed<T> = ColumnType<T, T, never>;
