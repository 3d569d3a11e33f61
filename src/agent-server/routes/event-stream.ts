import type { Clock } from '../../clock.ts';
import { NAMESPACE_SEPARATOR } from '../../contract/agent/stream-event.ts';
import { EVENT_STREAM_TYPE, writeComment, writeEvent } from '../../sse/write-event.ts';
import type { Followable } from '../runs/event-log.ts';
import { Backlog } from './backlog.ts';

/** How long (ms) a stream may say nothing before it shows that it lives. */
const HEARTBEAT_MS = 5000;
/** What a stream takes in (bytes) before anybody asks for it. */
const AHEAD = 64 * 1024;

/** How a stream is followed. */
export interface StreamOptions {
  clock: Clock;
  /** Called when the caller goes before the end. */
  onGone: () => void;
  /** Of a resumable run: the last event that the caller has. */
  afterId?: number | undefined;
  /** Only these modes; all of the run's where absent. */
  modes?: readonly string[] | undefined;
  headers: Record<string, string>;
}

const encoder = new TextEncoder();

/** The events of a run as a response. It ends with the run's last event, at once. */
export function eventStream(events: Followable, { clock, onGone, afterId, modes, headers }: StreamOptions): Response {
  const done = new AbortController();
  let unfollow: () => void = () => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        let quiet = true;
        const backlog = new Backlog(clock, done.signal, {
          bytes: () => AHEAD - (controller.desiredSize ?? AHEAD),
          giveUp: () => {
            unfollow();
            done.abort();
            controller.error(new Error('The caller reads too slowly.'));
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
        // What one step tells comes in one go: as one piece it costs one write to the socket.
        const say = (text: string) => {
          quiet = false;
          if (said === '') process.nextTick(send);
          said += text;
          if (said.length > AHEAD) send();
        };
        unfollow = events.follow((logged) => {
          if (done.signal.aborted) return;
          if (logged === undefined) {
            send();
            if (done.signal.aborted) return;
            done.abort();
            controller.close();
          } else if (isRequested(logged.event, modes)) {
            const id = logged.id === undefined ? {} : { id: String(logged.id) };
            say(writeEvent({ ...id, event: logged.event, data: logged.json }));
          }
        }, afterId);
        // Given up while what is kept was told: there was nothing to be let go of yet.
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
    new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }),
  );
  return new Response(body, {
    headers: { ...headers, 'content-type': EVENT_STREAM_TYPE, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' },
  });
}

/** Calls back again and again until the signal aborts. */
export async function beat(
  clock: Clock,
  signal: AbortSignal,
  onBeat: () => void,
  everyMs = HEARTBEAT_MS,
): Promise<void> {
  for (;;) {
    const goesOn = await clock.sleep(everyMs, signal).then(
      () => true,
      () => false,
    );
    if (!goesOn || signal.aborted) return;
    onBeat();
  }
}

/** The events that are of no mode, the first and an error, always go out. */
function isRequested(event: string, modes: readonly string[] | undefined): boolean {
  if (modes === undefined || event === 'metadata' || event === 'error') return true;
  const mode = event.split(NAMESPACE_SEPARATOR)[0]?.split('/')[0] ?? '';
  return modes.includes(mode) || (mode === 'messages' && modes.includes('messages-tuple'));
}
