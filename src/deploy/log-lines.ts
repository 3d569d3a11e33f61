import type { LogEntry, LogPage } from '../contract/control/log.ts';
import { isNotOffered } from '../contract/service-error.ts';
import { attempt } from './attempt.ts';
import type { DeployRun } from './deploy-run.ts';

/** How much of each of the two logs is fetched: lines, and characters of one line. */
const lines = 50;
const characters = 2_000;

/** The last lines of a revision's build and deploy logs, oldest first. What cannot be had is noted and left out. */
export async function lastLogLines(deploymentId: string, revisionId: string, run: DeployRun): Promise<LogEntry[]> {
  const { control } = run.request;
  const query = { order: 'desc', limit: lines } as const;
  const reading = () => run.reading(Infinity);
  return [
    ...(await newestOf('build', control.buildLogs(deploymentId, revisionId, query, reading()), run)),
    ...(await newestOf('deploy', control.deployLogs(deploymentId, revisionId, query, reading()), run)),
  ];
}

async function newestOf(which: string, call: Promise<LogPage>, run: DeployRun): Promise<LogEntry[]> {
  const page = await attempt(call);
  if (!page.ok) {
    run.note(
      isNotOffered(page.error)
        ? `this service does not offer ${which} logs`
        : `the ${which} log could not be read: ${page.error.message}`,
    );
    return [];
  }
  return page.value.logs
    .slice(0, lines)
    .toReversed()
    .map(({ id, timestamp, level, message }) => ({
      id,
      timestamp,
      level,
      message: run.redact(message).slice(0, characters),
    }));
}
