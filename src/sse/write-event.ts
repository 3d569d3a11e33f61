/** The `Content-Type` of a stream of events. */
export const eventStreamType = 'text/event-stream';

/** What a server has to say of one event; `data` may have many lines. */
export interface EventToWrite {
  id?: string;
  event?: string;
  data: string;
}

/** One event as the bytes of a stream spell it, the blank line at its end included. A name of two lines is our mistake. */
export function writeEvent({ id, event, data }: EventToWrite): string {
  const lines = [
    ...(event === undefined ? [] : [`event: ${oneLine('event', event)}`]),
    ...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
    ...(id === undefined ? [] : [`id: ${oneLine('id', id)}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** A comment: life on the line that is no event. */
export function writeComment(text: string): string {
  return `: ${oneLine('comment', text)}\n\n`;
}

function oneLine(what: string, text: string): string {
  if (/[\r\n\0]/.test(text)) throw new Error(`the ${what} of a server-sent event holds a line break or a NUL`);
  return text;
}
