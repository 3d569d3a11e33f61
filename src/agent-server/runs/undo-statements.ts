/**
 * The statements that undo what runs did to their threads, each of them all of it.
 */

/** The task to which the engine puts what nobody's task wrote: what a run was told, such as an answer. */
export const NOBODYS_TASK = '00000000-0000-0000-0000-000000000000';

/**
 * Undoes what $1, the run of the relation `run`, wrote: its own states, and, where `found` says so, what it wrote to those
 * that were there before it. Values of channels are stored once a version: those that another state of the thread has too
 * stay. What a step wrote may be there without its checkpoint, which comes beside it.
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

/** $1 run. Locks its thread's row: who counts on that waits, and what is done next sees all that others did before. */
export const LOCK_THREAD = {
  name: 'lock-thread-of-run',
  text: `select from threads where thread_id = (select thread_id from runs where run_id = $1) for update`,
};

/**
 * $1 run, $2 process, $3 now. Forgets a run and what it wrote; the thread, which is locked, is as it was before. The run
 * that was accepted next knows then what was before both. One that just ends itself, and waits for the thread, need not.
 */
export const ROLL_BACK = {
  name: 'roll-back',
  text: `
    with run as (
      delete from runs where run_id = $1::uuid and process_id = $2
      returning thread_id, temporary, sequence, graph_id, graph_before
    ), later as materialized (
      select later.run_id from runs later join run on later.thread_id = run.thread_id and later.sequence > run.sequence
      order by later.sequence limit 1
    ), told as (
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

/**
 * $1 run, $2 process. Has a run that took an answer begin anew: what it was told, and what was asked, is as it found it.
 * What tasks of its first step had done is kept, for it need not be done again.
 */
export const START_OVER = {
  name: 'start-over',
  text: `
    with run as materialized (
      select thread_id from runs where run_id = $1::uuid and process_id = $2 for update
    ), ${undone(`b.idx < 0 or b.task_id = '${NOBODYS_TASK}'`)}
    select from run`,
};

/** $1 run, $2 process. Takes away the answers that the run was told and its tasks have taken: no other question gets them. */
export const ANSWER_TAKEN = {
  name: 'answer-taken',
  text: `
    delete from checkpoint_writes w using checkpoint_writes_before b, runs
    where b.run_id = $1::uuid and runs.run_id = b.run_id and runs.process_id = $2
      and b.task_id = '${NOBODYS_TASK}' and w.channel = '__resume__' and w.thread_id = b.thread_id
      and w.checkpoint_ns = b.checkpoint_ns and w.checkpoint_id = b.checkpoint_id and w.task_id = b.task_id and w.idx = b.idx`,
};

/** $1 thread, $2 the run that goes on without an answer, $3 process. The same for answers of runs before: the engine keeps them, and would give them to the next question. */
export const FORMER_ANSWERS_TAKEN = {
  name: 'former-answers-taken',
  text: `
    delete from checkpoint_writes
    where thread_id = $1 and task_id = '${NOBODYS_TASK}' and channel = '__resume__'
      and exists (select from runs where run_id = $2 and process_id = $3 and status = 'running')`,
};
