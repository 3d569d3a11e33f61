import type { PgBoss } from 'pg-boss';
import { pause, type Clock } from '../clock.ts';

/** How often it is looked for jobs that a clock that was set back keeps waiting (ms). */
const lookEveryMs = 30_000;

/**
 * Brings jobs forward that the database's clock, set back since they were sent, would keep waiting until it is that time
 * again: one of the future waits for as long as it was sent to wait, from now on; a repetition, none of which waits for
 * an hour, comes at once. What is under way began now at the latest, so that it is missed when its process is gone.
 */
async function bringJobsForward(boss: PgBoss, schema: string): Promise<void> {
  const now = `"${schema}".job_now()`;
  await boss.getDb().executeSql(`
    update "${schema}".job set created_on = least(created_on, ${now}),
      start_after = ${now} + case when state = 'created' then greatest(start_after - created_on, interval '0') else interval '0' end
    where state = 'created' and created_on > ${now} + interval '1 minute'
      or state = 'retry' and start_after > ${now} + interval '1 hour'`);
  await boss.getDb().executeSql(`
    update "${schema}".job set started_on = ${now}, heartbeat_on = least(heartbeat_on, ${now})
    where state = 'active' and started_on > ${now} + interval '1 minute'`);
}

/** Repeats it at an interval until the signal aborts. Logs failures and retries. */
export async function keepBringingForward(
  boss: PgBoss,
  schema: string,
  { clock, signal, log }: { clock: Clock; signal: AbortSignal; log: (message: string) => void },
): Promise<void> {
  while (!signal.aborted) {
    await bringJobsForward(boss, schema).catch((error: unknown) => {
      if (!signal.aborted) log(`The job queue has a problem and goes on: ${String(error)}`);
    });
    await pause(clock, lookEveryMs, signal);
  }
}
