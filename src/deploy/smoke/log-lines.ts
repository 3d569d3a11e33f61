import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '../../contract/call-options.ts';
import type { LogEntry, LogPage } from '../../contract/control/log.ts';
import type { ControlService } from '../../contract/control/service.ts';
import type { ServiceError } from '../../contract/service-error.ts';
import { tryCall } from './try-call.ts';

/** How the logs of a revision are read. */
export interface LogReading {
  control: Pick<ControlService, 'buildLogs' | 'deployLogs'>;
  options: () => CallOptions;
  /** How much of each of the two logs is fetched: lines, and characters of one line. */
  lines: number;
  characters: number;
  /** Removes secrets from the first characters of a text. */
  redact: (text: string, most: number) => string;
  /** Receives the log that could not be read, and why. */
  missed: (log: 'build' | 'deploy', error: ServiceError) => void;
}

/** The last lines of a revision's build and deploy logs, oldest first. What cannot be had is left out. */
export async function lastLogLines(
  deploymentId: string,
  revisionId: string,
  { control, options, lines, characters, redact, missed }: LogReading,
): Promise<LogEntry[]> {
  const newestOf = async (log: 'build' | 'deploy', call: Promise<LogPage>): Promise<LogEntry[]> => {
    const page = await tryCall(call);
    if (!page.ok) missed(log, page.error);
    const newest = page.ok ? page.value.logs.slice(0, lines).toReversed() : [];
    const entries: LogEntry[] = [];
    for (const { id, timestamp, level, message } of newest) {
      // Removing secrets from all of them at once would hold other work.
      await nextTurn();
      entries.push({ id, timestamp, level, message: redact(message, characters) });
    }
    return entries;
  };
  const query = { order: 'desc', limit: lines } as const;
  return [
    ...(await newestOf('build', control.buildLogs(deploymentId, revisionId, query, options()))),
    ...(await newestOf('deploy', control.deployLogs(deploymentId, revisionId, query, options()))),
  ];
}
