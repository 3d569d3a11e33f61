import * as z from 'zod';

/** The line that announces that an agent's process listens. */
const listening = z.object({ event: z.literal('listening') });

/** Whether a line of an agent's output is that announcement. */
export function announcesListening(line: string): boolean {
  if (!line.startsWith('{')) return false;
  try {
    return listening.safeParse(JSON.parse(line)).success;
  } catch {
    // Another program's line that begins with a brace.
    return false;
  }
}
