import { Hono } from 'hono';
import type { Context } from 'hono';
import * as z from 'zod';
import type { Clock } from '../../clock.ts';
import { STREAM_MODES } from '../../contract/agent/stream-event.ts';
import { missing } from '../refusal.ts';
import { isUnfinished } from '../runs/run-row.ts';
import type { StoredRun } from '../runs/run-row.ts';
import type { Runs } from '../runs/runs.ts';
import type { RunStore } from '../runs/store.ts';
import { flag, pathId, readList, readQuery } from './body.ts';
import { eventStream } from './event-stream.ts';

const FollowQuery = z.looseObject({ cancel_on_disconnect: flag });
const modes = z.array(z.enum(STREAM_MODES)).optional();

/** What to do when a caller that joined a run disconnects. */
export function onGone(c: Context, run: StoredRun, runs: Runs): () => void {
  const { cancel_on_disconnect } = readQuery(c, FollowQuery);
  return cancel_on_disconnect && isUnfinished(run) ? () => runs.leave(run) : () => undefined;
}

/**
 * Streams the events of an existing run: for a resumable one after `Last-Event-ID`, else from now on.
 *
 * @throws Refusal if some of those events have been pruned.
 */
export async function joinStream(c: Context, run: StoredRun, runs: Runs, clock: Clock): Promise<Response> {
  const last = Number.parseInt(c.req.header('last-event-id') ?? '', 10);
  const isResumable = run.kwargs['resumable'] === true;
  if (isResumable && last >= 0) await runs.following.mustBeKept(run, last);
  return eventStream(runs.following.events(run), {
    clock,
    onGone: onGone(c, run, runs),
    headers: isResumable ? { location: c.req.path } : {},
    afterId: Number.isNaN(last) ? undefined : last,
    modes: readList(c, 'stream_mode', modes),
  });
}

/**
 * Streams the stored events of an ended stateless run after `Last-Event-ID`; undefined if there are none.
 *
 * @throws Refusal if some of those events have been pruned.
 */
export async function keptStream(c: Context, runs: Runs, clock: Clock): Promise<Response | undefined> {
  const runId = pathId(c, 'run_id');
  const kept = await runs.following.keptOf(pathId(c, 'thread_id'), runId);
  if (!kept) return undefined;
  const last = Number.parseInt(c.req.header('last-event-id') ?? '', 10);
  if (last >= 0) await runs.following.mustBeKept({ run_id: runId }, last);
  return eventStream(kept, {
    clock,
    onGone: () => undefined,
    headers: { location: c.req.path },
    afterId: Number.isNaN(last) ? undefined : last,
    modes: readList(c, 'stream_mode', modes),
  });
}

/** `GET /runs/{run_id}/stream`, for clients that don't know the thread. */
export function statelessStreamRoutes(runs: Runs, store: RunStore, clock: Clock): Hono {
  const routes = new Hono();
  routes.get('/:run_id/stream', async (c) => {
    const runId = pathId(c, 'run_id');
    const run = await store.find(runId);
    if (!run) throw missing(`Run ${runId} does not exist.`);
    return joinStream(c, run, runs, clock);
  });
  return routes;
}
