import type { PoolClient } from 'pg';

/** Removes all states of a locked thread but the latest, with the subgraph states and `withAncestors` that it needs. */
export async function keepLatest(
  client: PoolClient,
  threadId: string,
  { now, withAncestors }: { now: number; withAncestors: boolean },
): Promise<void> {
  await client.query(keepLatestStates, [threadId, withAncestors, new Date(now)]);
}

/**
 * $1 thread, $2 whether ancestors are needed, $3 now. Of a subgraph, the newest state is kept if it belongs to the
 * latest one of the whole, if it doesn't say to which, or if its namespace has no task: such a subgraph keeps its state
 * between runs. States in the engine's older format (below 4) store a part of themselves with their predecessor.
 */
const keepLatestStates = `
  with recursive newest as (
    select distinct on (checkpoint_ns) checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata
    from checkpoints where thread_id = $1::uuid::text
    order by checkpoint_ns, checkpoint_id desc
  ), kept as (
    select checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, 0 as depth
    from newest
    where checkpoint_ns = '' or position(':' in checkpoint_ns) = 0
      or metadata -> 'parents' ->> '' is null
      or metadata -> 'parents' ->> '' = (select checkpoint_id from newest where checkpoint_ns = '')
    union all
    select c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.checkpoint, k.depth + 1
    from kept k join checkpoints c
      on c.thread_id = $1::uuid::text and c.checkpoint_ns = k.checkpoint_ns and c.checkpoint_id = k.parent_checkpoint_id
    where $2::boolean or (k.depth = 0 and (k.checkpoint ->> 'v')::integer < 4)
  ), used as (
    select distinct k.checkpoint_ns, v.key as channel, v.value as version
    from kept k cross join lateral jsonb_each_text(k.checkpoint -> 'channel_versions') v
  ), writes as (
    delete from checkpoint_writes w where w.thread_id = $1::uuid::text
      and not exists (select from kept k where k.checkpoint_ns = w.checkpoint_ns and k.checkpoint_id = w.checkpoint_id)
  ), blobs as (
    delete from checkpoint_blobs b where b.thread_id = $1::uuid::text
      and not exists (
        select from used u where u.checkpoint_ns = b.checkpoint_ns and u.channel = b.channel and u.version = b.version
      )
  ), gone as (
    delete from checkpoints c where c.thread_id = $1::uuid::text
      and not exists (select from kept k where k.checkpoint_ns = c.checkpoint_ns and k.checkpoint_id = c.checkpoint_id)
  ), first as (
    update checkpoints c set parent_checkpoint_id = null
    from kept k
    where c.thread_id = $1::uuid::text and c.checkpoint_ns = k.checkpoint_ns and c.checkpoint_id = k.checkpoint_id
      and not exists (
        select from kept p where p.checkpoint_ns = k.checkpoint_ns and p.checkpoint_id = k.parent_checkpoint_id
      )
  )
  update threads
  set pruned_at = $3, expires_at = case when ttl_strategy = 'keep_latest' and expires_at <= $3 then null else expires_at end
  where thread_id = $1::uuid`;
