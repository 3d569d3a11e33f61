import { toLogLineResponse } from '../deployments/response.ts';
import type { LogEvent } from './follow-log.ts';

/** A log event in the format of server-sent events: data is one line of JSON. */
export function writeEvent(event: LogEvent): string {
  if (event.kind === 'quiet') return ': nothing new\n\n';
  if (event.kind === 'line') {
    return `id: ${event.line.id}\nevent: log\ndata: ${JSON.stringify(toLogLineResponse(event.line))}\n\n`;
  }
  const { status = null, status_message = null } = event.revision ?? {};
  return `event: end\ndata: ${JSON.stringify({ status, status_message })}\n\n`;
}

/** Milliseconds after which a disconnected client should reconnect. */
const comeAgainMs = 1_000;

/**
 * The events as bytes, pulled one by one: without a reader nothing is taken from the generator. Calls `left` when the
 * reader has disconnected.
 */
export function eventStream(events: AsyncGenerator<LogEvent, void>, left: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(`retry: ${comeAgainMs}\n\n`));
      },
      async pull(controller) {
        const { done, value } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(writeEvent(value)));
      },
      async cancel() {
        left();
        await events.return();
      },
    },
    { highWaterMark: 0 },
  );
}
