/** The most that is kept of an incomplete line: its start is enough to identify the field. */
const longestStart = 200;

/**
 * Makes the function that gets the pieces of an event stream and returns true once the first event has started. Comments
 * and the event `metadata`, which a server sends before a run starts, do not count.
 */
export function firstEventFinder(): (piece: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let line = '';
  let isMetadata = false;
  const isEventStart = (start: string, isWhole: boolean): boolean => {
    if (start === '') isMetadata = false;
    if (isWhole && start.startsWith('event:')) {
      isMetadata = start.slice('event:'.length).trim() === 'metadata';
      return !isMetadata;
    }
    return start.startsWith('data:') && !isMetadata;
  };
  return (piece) => {
    const lines = (line + decoder.decode(piece, { stream: true })).split('\n');
    line = (lines.pop() ?? '').slice(0, longestStart);
    if (lines.some((each) => isEventStart(each.replace(/\r$/, ''), true))) return true;
    return line !== '' && isEventStart(line, false);
  };
}
