import { pause, type Clock } from '../../../kit/clock.ts';
import { runError } from '../../../contract/agent/run.ts';
import { errorEvent, metadataEvent, namespaceSeparator } from '../../../contract/agent/stream-event.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { eventStreamType, writeComment, writeEvent } from '../../../kit/sse/write-event.ts';
import type { Followable, LoggedEvent } from '../runs/event-log.ts';
import { isCancellation } from '../runs/run-error.ts';
import { Backlog } from './backlog.ts';

/** How long (ms) a stream may be silent before a heartbeat. */
const heartbeatMs = 5000;
/** The buffer (bytes) of a stream. */
const ahead = 64 * 1024;

export interface StreamOptions {
  clock: Clock;
  onGone: () => void;
  /** For a resumable run: the last event that the caller received. */
  afterId?: number | undefined;
  /** Only these modes; all of the run's by default. */
  modes?: readonly string[] | undefined;
  /** Whether the stream of a cancelled run ends with its error, which only this server's own protocols need. */
  showsCancellation?: boolean | undefined;
  headers: Record<string, string>;
}

const encoder = new TextEncoder();

/** Streams the events of a run. The response ends right after the last event. */
export function eventStream(events: Followable, options: StreamOptions): Response {
  const { clock, onGone, afterId, headers } = options;
  const done = new AbortController();
  let unfollow: () => void = () => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let quiet = true;
        const backlog = new Backlog(clock, done.signal, {
          bytes: () => ahead - (controller.desiredSize ?? ahead),
          giveUp: () => {
            unfollow();
            done.abort();
            controller.error(new Error('The client reads too slowly.'));
            onGone();
          },
        });
        let said = '';
        const send = () => {
          if (said === '' || done.signal.aborted) return;
          const bytes = encoder.encode(said);
          said = '';
          controller.enqueue(bytes);
          backlog.grown(bytes.byteLength);
        };
        // All events of one step are written at once, with a single write to the socket.
        const say = (text: string) => {
          quiet = false;
          if (said === '') process.nextTick(send);
          said += text;
          if (said.length > ahead) send();
        };
        unfollow = events.follow((logged) => {
          if (done.signal.aborted) return;
          if (logged === undefined) {
            send();
            if (done.signal.aborted) return;
            done.abort();
            controller.close();
          } else if (isRequested(logged, options)) {
            const id = logged.id === undefined ? {} : { id: String(logged.id) };
            say(writeEvent({ ...id, event: logged.event, data: logged.json }));
          }
        }, afterId);
        // Aborted while past events were replayed, before `unfollow` was set.
        if (done.signal.aborted) unfollow();
        void beat(clock, done.signal, () => {
          if (quiet) say(writeComment('heartbeat'));
          quiet = true;
        });
      },
      cancel: () => {
        unfollow();
        done.abort();
        onGone();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: ahead }),
  );
  return new Response(body, {
    headers: { ...headers, 'content-type': eventStreamType, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
  });
}

/** Calls back periodically until the signal aborts. */
export async function beat(
  clock: Clock,
  signal: AbortSignal,
  onBeat: () => void,
  everyMs = heartbeatMs,
): Promise<void> {
  for (;;) {
    await pause(clock, everyMs, signal);
    if (signal.aborted) return;
    onBeat();
  }
}

/**
 * Events without a mode (the first one and errors) are always sent. The stream of a cancelled run just ends, as on the
 * public servers: an error would be shown to the person who cancelled it.
 */
function isRequested(
  { event, json }: LoggedEvent,
  { modes, showsCancellation = false }: Pick<StreamOptions, 'modes' | 'showsCancellation'>,
): boolean {
  if (event === errorEvent) {
    const read = runError.safeParse(fromJson(json));
    return showsCancellation || !read.success || !isCancellation(read.data);
  }
  if (modes === undefined || event === metadataEvent) return true;
  const mode = event.split(namespaceSeparator)[0]?.split('/')[0] ?? '';
  return modes.includes(mode) || (mode === 'messages' && modes.includes('messages-tuple'));
}
