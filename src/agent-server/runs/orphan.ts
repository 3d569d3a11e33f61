import type { StoredRun } from './run-row.ts';

/** How often a run may be begun before it is given up: a run that kills its process must not do so for ever. */
const MOST_ATTEMPTS = 3;

/** What becomes of an unfinished run whose process is gone. */
export type OrphanFate =
  { kind: 'go-on' } | { kind: 'end'; status: 'interrupted' | 'error'; error: { error: string; message: string } };

/**
 * The fate of a run whose process is gone, killed or stopped. One that goes on without a caller is carried out again,
 * from its last checkpoint; one whose caller held the connection has lost it, and ends as `on_disconnect` says.
 *
 * @param run `isReadable`: whether this process can read what it was asked for; another revision may have accepted it.
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
    return ended(
      'error',
      'RunNotReadable',
      'The revision that went on with the run can not read what it was asked for.',
    );
  }
  if (run.status === 'running' && run.attempt >= MOST_ATTEMPTS) {
    return ended('error', 'ServerStopped', `The server stopped ${run.attempt} times before the run had ended.`);
  }
  return { kind: 'go-on' };
}

const ended = (status: 'interrupted' | 'error', error: string, message: string): OrphanFate => ({
  kind: 'end',
  status,
  error: { error, message },
});
