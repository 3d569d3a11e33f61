import type { TracedRun } from '../../../contract/control/tracing-project.ts';
import { keptMs, pendingFigures, type FiguresRow } from './figures.ts';
import { observe } from './histogram.ts';

/** The statuses of runs that failed. An interrupted run waits for a person, or was cancelled: it is neither. */
const failures = new Set<TracedRun['status']>(['error', 'timeout']);

/**
 * The figures of ended runs, by the time of their end. Agents name the times: a later one than now counts as now, and
 * figures that would be too old to be kept are left out.
 */
export function figuresOfRuns(deploymentId: string, runs: readonly TracedRun[], now: number): FiguresRow[] {
  const pending = pendingFigures();
  for (const { status, started_at, ended_at } of runs) {
    const end = Date.parse(ended_at);
    if (end < now - keptMs) continue;
    const figures = pending.of(deploymentId, Math.min(end, now), now);
    figures.runs += 1;
    if (failures.has(status)) figures.failed_runs += 1;
    if (status === 'interrupted') figures.interrupted_runs += 1;
    if (started_at !== null) observe(figures.run_times, end - Date.parse(started_at));
  }
  return pending.rows();
}
