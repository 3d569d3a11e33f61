import type { LogEntry, LogPage } from '../contract/control/log.ts';
import { isNotOffered } from '../contract/service-error.ts';
import { attempt } from './attempt.ts';
import type { Story } from './story.ts';

/** How much of each of the two logs is fetched: lines, and characters of one line. */
const lines = 50;
const characters = 2_000;

/** The last lines of a revision's build and deploy logs, oldest first. What cannot be had is noted and left out. */
export async function lastLogLines(deploymentId: string, revisionId: string, story: Story): Promise<LogEntry[]> {
  const { control } = story.request;
  const query = { order: 'desc', limit: lines } as const;
  const reading = () => story.reading(Infinity);
  return [
    ...(await newestOf('build', control.buildLogs(deploymentId, revisionId, query, reading()), story)),
    ...(await newestOf('deploy', control.deployLogs(deploymentId, revisionId, query, reading()), story)),
  ];
}

async function newestOf(which: string, call: Promise<LogPage>, story: Story): Promise<LogEntry[]> {
  const page = await attempt(call);
  if (!page.ok) {
    story.note(
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
      message: story.redact(message).slice(0, characters),
    }));
}
