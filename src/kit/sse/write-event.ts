/** The `Content-Type` of a stream of events. */
export const eventStreamType = 'text/event-stream';

/** A server-sent event to write; `data` may have several lines. */
export interface EventToWrite {
  id?: string;
  event?: string;
  data: string;
}

/** Serializes an event with its final blank line. Throws for a name or id with a line break. */
export function writeEvent({ id, event, data }: EventToWrite): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${oneLine('event', event)}`]),
    ...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
    ...(id === undefined ? [] : [`id: ${oneLine('id', id)}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** Serializes a comment, which keeps a connection alive and is no event. */
export function writeComment(text: string): string {
  return `: ${oneLine('comment', text)}\n\n`;
}

function oneLine(what: string, text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error(`the ${what} of a server-sent event holds a line break or a NUL`);
  return text;
}
