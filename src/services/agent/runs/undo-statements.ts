/** The statements that undo what runs wrote to their threads, each atomic. */

/** The engine's task id for writes that belong to no task, such as a run's resume value. */
export const runWritesTask = '00000000-0000-0000-0000-000000000000';

/**
 * Undoes the writes of run $1 (the relation `run`): its own checkpoints, and, filtered by `found`, its writes to
 * earlier ones. Channel values are stored per version, so those that another checkpoint of the thread uses stay. Writes
 * of a step may exist without its checkpoint, which is stored concurrently.
 */
const undone = (found: string) => `
    gone as (
      delete from checkpoints using run
      where checkpoints.thread_id = run.thread_id::text and checkpoints.metadata ->> 'run_id' = $1::text
      returning checkpoints.thread_id, checkpoints.checkpoint_ns, checkpoints.checkpoint
    ), writes as (
      delete from checkpoint_writes w using run
      where w.thread_id = run.thread_id::text and not exists (
        select from checkpoints c
        where c.thread_id = w.thread_id and c.checkpoint_ns = w.checkpoint_ns and c.checkpoint_id = w.checkpoint_id
          and c.metadata ->> 'run_id' is distinct from $1::text
      )
    ), before as (
      select b.* from run join checkpoint_writes_before b on b.run_id = $1::uuid where ${found}
    ), added as (
      delete from checkpoint_writes w using before b
      where b.channel is null and w.thread_id = b.thread_id and w.checkpoint_ns = b.checkpoint_ns
        and w.checkpoint_id = b.checkpoint_id and w.task_id = b.task_id and w.idx = b.idx
    ), changed as (
      update checkpoint_writes w set channel = b.channel, type = b.type, blob = b.blob from before b
      where b.channel is not null and w.thread_id = b.thread_id and w.checkpoint_ns = b.checkpoint_ns
        and w.checkpoint_id = b.checkpoint_id and w.task_id = b.task_id and w.idx = b.idx
    ), used as (
      select distinct c.checkpoint_ns, v.key as channel, v.value as version
      from run join checkpoints c on c.thread_id = run.thread_id::text
      cross join lateral jsonb_each_text(c.checkpoint -> 'channel_versions') v
      where c.metadata ->> 'run_id' is distinct from $1::text
    ), unused as (
      select distinct gone.thread_id, gone.checkpoint_ns, v.key as channel, v.value as version
      from gone cross join lateral jsonb_each_text(gone.checkpoint -> 'channel_versions') v
      except select run.thread_id::text, used.checkpoint_ns, used.channel, used.version from run, used
    ), blobs as (
      delete from checkpoint_blobs b using unused u
      where b.thread_id = u.thread_id and b.checkpoint_ns = u.checkpoint_ns and b.channel = u.channel and b.version = u.version
    )`;

/** $1 run. Locks its thread's row, so that the following statements see all concurrent changes. */
export const lockThread = {
  name: 'lock-thread-of-run',
  text: `select from threads where thread_id = (select thread_id from runs where run_id = $1) for update`,
};

/**
 * $1 run, $2 process, $3 now. Deletes a run and its writes, which restores the locked thread. The next accepted run
 * then inherits the state before both, unless it is just ending and waits for the thread.
 */
export const rollBackRun = {
  name: 'roll-back',
  text: `
    with run as (
      delete from runs where run_id = $1::uuid and process_id = $2
      returning thread_id, temporary, sequence, graph_id, graph_before
    ), later as materialized (
      select later.run_id from runs later join run on later.thread_id = run.thread_id and later.sequence > run.sequence
      order by later.sequence limit 1
    ), inherited as (
      update runs set graph_before = run.graph_before from run
      where runs.run_id = (select run_id from runs where run_id = (select run_id from later) for update skip locked)
    ), ${undone('true')}
    update threads
    set unfinished = unfinished - 1, updated_at = $3,
      status = case when unfinished > 1 then 'busy' else coalesce(status_at_rest, 'idle') end,
      metadata = case
        when run.graph_before is null or exists (select from later) or metadata ->> 'graph_id' is distinct from run.graph_id
        then metadata else metadata - 'graph_id' - 'assistant_id' || run.graph_before
      end
    from run where threads.thread_id = run.thread_id and not run.temporary`,
};

/** $1 run, $2 process. Resets a run that consumed a resume value; results of tasks of its first step are kept. */
export const startRunOver = {
  name: 'start-over',
  text: `
    with run as materialized (
      select thread_id from runs where run_id = $1::uuid and process_id = $2 for update
    ), ${undone(`b.idx < 0 or b.task_id = '${runWritesTask}'`)}
    select from run`,
};

/** $1 run, $2 process. Removes the run's consumed resume values, so that no other interrupt receives them. */
export const withdrawResumeValues = {
  name: 'answer-taken',
  text: `
    delete from checkpoint_writes w using checkpoint_writes_before b, runs
    where b.run_id = $1::uuid and runs.run_id = b.run_id and runs.process_id = $2
      and b.task_id = '${runWritesTask}' and w.channel = '__resume__' and w.thread_id = b.thread_id
      and w.checkpoint_ns = b.checkpoint_ns and w.checkpoint_id = b.checkpoint_id and w.task_id = b.task_id and w.idx = b.idx`,
};

/**
 * $1 thread, $2 the run that continues without a resume value, $3 process. The same for earlier runs: the engine keeps
 * their values for the next interrupt.
 */
export const withdrawFormerResumeValues = {
  name: 'former-answers-taken',
  text: `
    delete from checkpoint_writes
    where thread_id = $1 and task_id = '${runWritesTask}' and channel = '__resume__'
      and exists (select from runs where run_id = $2 and process_id = $3 and status = 'running')`,
};
