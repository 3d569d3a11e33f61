import * as z from 'zod';
import { fromJson } from '../../contract/json-text.ts';

/** The line that announces that an agent's process listens. */
const listening = z.object({ event: z.literal('listening') });

/** Whether a line of an agent's output is that announcement. */
export const announcesListening = (line: string): boolean =>
  line.startsWith('{') && listening.safeParse(fromJson(line)).success;
