import * as z from 'zod';

/** The line by which an agent's process says that it listens. */
const listening = z.object({ event: z.literal('listening'), port: z.int().min(1).max(65_535) });

/** The port that a line of an agent's output announces, if it is that line. */
export function announcedPort(line: string): number | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return listening.safeParse(JSON.parse(line)).data?.port;
  } catch {
    // Somebody else's line that begins with a brace.
    return undefined;
  }
}
