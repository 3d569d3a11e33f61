import type { Context } from 'hono';
import * as z from 'zod';
import { runStreamModes } from '../../../contract/agent/stream-event.ts';
import type { Env } from '../api/operation.ts';
import { isUnfinished, type StoredRun } from './run-row.ts';
import { flag, pathId, readList, readQuery } from '../api/body.ts';
import { eventStream } from '../api/event-stream.ts';
import { cancellationHeader } from '../protocols/internal-api.ts';

const modes = z.array(z.enum(runStreamModes)).optional();
export const joinQuery = z.looseObject({ cancel_on_disconnect: flag });
export const streamQuery = joinQuery.extend({ stream_mode: modes });

/** Where clients resume the stream of a run. By its id alone, a run is found only until it ends. */
export const streamPath = (threadId: string, runId: string): string => `/threads/${threadId}/runs/${runId}/stream`;

/** Where clients that wait for a run come back to it. */
export const joinPath = (threadId: string, runId: string): string => `/threads/${threadId}/runs/${runId}/join`;

/** What to do when a caller that joined a run disconnects. */
export function cancelOnDisconnect(c: Context<Env>, run: StoredRun): () => void {
  const { cancel_on_disconnect } = readQuery(c, joinQuery);
  if (!cancel_on_disconnect || !isUnfinished(run)) return () => undefined;
  return () => c.var.dependencies.runs.cancelling.leave(run.run_id);
}

/** Streams a run: a resumable one after `Last-Event-ID`, another one from now on. @throws Refusal if events are pruned. */
export async function joinStream(c: Context<Env>, run: StoredRun): Promise<Response> {
  const { runs, clock } = c.var.dependencies;
  const isResumable = run.kwargs['resumable'] === true;
  return eventStream(runs.following.events(run), {
    clock,
    onGone: cancelOnDisconnect(c, run),
    headers: isResumable ? { location: streamPath(run.thread_id, run.run_id) } : {},
    showsCancellation: c.req.header(cancellationHeader) !== undefined,
    ...(isResumable ? { afterId: await lastReceived(c, run.run_id) } : {}),
    modes: readList(c, 'stream_mode', modes),
  });
}

/** The same for an ended stateless run of which only events are left; undefined if there are none. */
export async function keptStream(c: Context<Env>): Promise<Response | undefined> {
  const { runs, clock } = c.var.dependencies;
  const [threadId, runId] = [pathId(c, 'thread_id'), pathId(c, 'run_id')];
  const kept = await runs.following.keptOf(threadId, runId);
  if (!kept) return undefined;
  return eventStream(kept, {
    clock,
    onGone: () => undefined,
    headers: { location: streamPath(threadId, runId) },
    afterId: await lastReceived(c, runId),
    modes: readList(c, 'stream_mode', modes),
  });
}

async function lastReceived(c: Context<Env>, runId: string): Promise<number | undefined> {
  const last = Number.parseInt(c.req.header('last-event-id') ?? '', 10);
  if (last >= 0) await c.var.dependencies.runs.following.mustBeKept(runId, last);
  return Number.isNaN(last) ? undefined : last;
}
