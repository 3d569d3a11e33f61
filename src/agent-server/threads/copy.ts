/**
 * $1 thread, $2 the new thread, $3 now. Copies a thread with its states in one statement, as a consistent snapshot; no
 * row if there is no such thread. The copy's time to live starts now.
 */
export const copyThread = `
  with source as (
    select * from threads where thread_id = $1::uuid
  ), checkpoints_made as (
    insert into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
    select $2::uuid::text, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint,
      case when metadata ? 'thread_id' then jsonb_set(metadata, '{thread_id}', to_jsonb($2::uuid::text)) else metadata end
    from checkpoints where thread_id = $1::uuid::text
  ), blobs_made as (
    insert into checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    select $2::uuid::text, checkpoint_ns, channel, version, type, blob
    from checkpoint_blobs where thread_id = $1::uuid::text
  ), writes_made as (
    insert into checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
    select $2::uuid::text, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob
    from checkpoint_writes where thread_id = $1::uuid::text
  )
  insert into threads
    (thread_id, status, metadata, config, "values", interrupts, created_at, updated_at, state_updated_at,
      ttl_strategy, ttl_minutes, expires_at)
  select $2::uuid, status, metadata, config, "values", interrupts, $3, $3, state_updated_at,
    ttl_strategy, ttl_minutes, $3::timestamptz + make_interval(secs => ttl_minutes * 60)
  from source
  returning *`;
