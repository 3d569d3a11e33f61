import type { StoredRun } from './run-row.ts';

/** The maximum number of attempts: a run that kills its process must not do so forever. */
const mostAttempts = 3;

/** What to do about an unfinished run whose process is gone. */
export type OrphanFate =
  { kind: 'go-on' } | { kind: 'end'; status: 'interrupted' | 'error'; error: { error: string; message: string } };

/**
 * Decides about a run whose process was killed or stopped. A detached run continues from its last checkpoint; a run
 * whose caller lost its connection ends as `on_disconnect` says.
 *
 * @param run `isReadable`: whether this process can parse the request, which another revision may have accepted.
 */
export function fateOf(
  run: Pick<StoredRun, 'status' | 'attempt' | 'detached' | 'cancel_action' | 'graph_id'> & { isReadable: boolean },
  hasGraph: (graphId: string) => boolean,
): OrphanFate {
  if (run.cancel_action !== null) return ended('interrupted', 'RunCancelled', 'The run was cancelled.');
  if (!run.detached) return ended('interrupted', 'ServerStopped', 'The server stopped before the run had ended.');
  if (!hasGraph(run.graph_id)) {
    return ended('error', 'GraphMissing', `The revision that went on with the run has no graph "${run.graph_id}".`);
  }
  if (!run.isReadable) {
    return ended('error', 'RunNotReadable', 'The revision that took over the run can not read its request.');
  }
  if (run.status === 'running' && run.attempt >= mostAttempts) {
    return ended('error', 'ServerStopped', `The server stopped ${run.attempt} times before the run had ended.`);
  }
  return { kind: 'go-on' };
}

const ended = (status: 'interrupted' | 'error', error: string, message: string): OrphanFate => ({
  kind: 'end',
  status,
  error: { error, message },
});
