import type { Pool } from 'pg';

/** Serializes the sending of a report: two at once would make two check runs. */
export interface ReportLocks {
  /** Runs the work under a lock; returns undefined without running it if the lock is held. */
  exclusively<Value>(reportId: string, work: () => Promise<Value>): Promise<{ value: Value } | undefined>;
}

/** Locks within one process. */
export function localReportLocks(): ReportLocks {
  const held = new Set<string>();
  return {
    exclusively: async (reportId, work) => {
      if (held.has(reportId)) return undefined;
      held.add(reportId);
      try {
        return { value: await work() };
      } finally {
        held.delete(reportId);
      }
    },
  };
}

/** Our part of the database's numbers for locks; the other half of a lock's number is the report's. */
const lockClass = 0x6c_66_72;

/**
 * Locks that all copies of the App on one database share. A lock belongs to a connection of the pool for as long as the
 * work takes, and ends with it: one of a process that was killed is free at once.
 */
export function sharedReportLocks(pool: Pool): ReportLocks {
  const local = localReportLocks();
  const locked = async <Value>(reportId: string, work: () => Promise<Value>): Promise<{ value: Value } | undefined> => {
    const client = await pool.connect();
    // A connection that broke, or whose lock could not be given back, must not be used again.
    let intact = false;
    try {
      const lock = [lockClass, reportId];
      const { rows } = await client.query<{ got: boolean }>(
        'select pg_try_advisory_lock($1, hashtext($2)) as got',
        lock,
      );
      const got = rows[0]?.got === true;
      try {
        return got ? { value: await work() } : undefined;
      } finally {
        if (got) await client.query('select pg_advisory_unlock($1, hashtext($2))', lock);
        intact = true;
      }
    } finally {
      client.release(!intact);
    }
  };
  return {
    exclusively: async (reportId, work) => (await local.exclusively(reportId, () => locked(reportId, work)))?.value,
  };
}
