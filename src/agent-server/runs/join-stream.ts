import type { Context } from 'hono';
import * as z from 'zod';
import { runStreamModes } from '../../contract/agent/stream-event.ts';
import type { Env } from '../api/operation.ts';
import { isUnfinished } from './run-row.ts';
import type { StoredRun } from './run-row.ts';
import { flag, pathId, readList, readQuery } from '../api/body.ts';
import { eventStream } from '../api/event-stream.ts';

const modes = z.array(z.enum(runStreamModes)).optional();
/** The query to wait for an existing run. */
export const joinQuery = z.looseObject({ cancel_on_disconnect: flag });
/** The query to stream an existing run. */
export const streamQuery = joinQuery.extend({ stream_mode: modes });

/**
 * The path that streams the events of a run, where clients resume it. By its id alone, a run is found only until it ends.
 */
export const streamPath = (threadId: string, runId: string): string => `/threads/${threadId}/runs/${runId}/stream`;

/** What to do when a caller that joined a run disconnects. */
export function onGone(c: Context<Env>, run: StoredRun): () => void {
  const { cancel_on_disconnect } = readQuery(c, joinQuery);
  return cancel_on_disconnect && isUnfinished(run) ? () => c.var.parts.runs.cancelAbandoned(run) : () => undefined;
}

/**
 * Streams the events of an existing run: for a resumable one after `Last-Event-ID`, else from now on.
 *
 * @throws Refusal if some of those events have been pruned.
 */
export async function joinStream(c: Context<Env>, run: StoredRun): Promise<Response> {
  const { runs, clock } = c.var.parts;
  const last = Number.parseInt(c.req.header('last-event-id') ?? '', 10);
  const isResumable = run.kwargs['resumable'] === true;
  if (isResumable && last >= 0) await runs.following.mustBeKept(run, last);
  return eventStream(runs.following.events(run), {
    clock,
    onGone: onGone(c, run),
    headers: isResumable ? { location: streamPath(run.thread_id, run.run_id) } : {},
    afterId: Number.isNaN(last) ? undefined : last,
    modes: readList(c, 'stream_mode', modes),
  });
}

/**
 * Streams the stored events of an ended stateless run after `Last-Event-ID`; undefined if there are none.
 *
 * @throws Refusal if some of those events have been pruned.
 */
export async function keptStream(c: Context<Env>): Promise<Response | undefined> {
  const { runs, clock } = c.var.parts;
  const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
  const kept = await runs.following.keptOf(threadId, runId);
  if (!kept) return undefined;
  const last = Number.parseInt(c.req.header('last-event-id') ?? '', 10);
  if (last >= 0) await runs.following.mustBeKept({ run_id: runId }, last);
  return eventStream(kept, {
    clock,
    onGone: () => undefined,
    headers: { location: streamPath(threadId, runId) },
    afterId: Number.isNaN(last) ? undefined : last,
    modes: readList(c, 'stream_mode', modes),
  });
}
