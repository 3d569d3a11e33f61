import type { Pool } from 'pg';

/** A statement with its values. */
export interface Statement {
  text: string;
  values: readonly unknown[];
}

/** Runs statements in one transaction. */
export async function inTransaction(pool: Pool, statements: readonly Statement[]): Promise<void> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    for (const { text, values } of statements) await client.query(text, [...values]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch((mistake: unknown) => {
      broken = mistake instanceof Error ? mistake : new Error(String(mistake));
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
