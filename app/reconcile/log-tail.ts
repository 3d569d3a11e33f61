import type { LogEntry, LogPage } from '../../src/contract/control/log.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { Redactor } from '../../src/deploy/redactor.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import { reading, type ReconcileContext } from './reconcile-context.ts';

/** Stored part of a failed revision's logs: lines. */
const lines = 30;

/** Stored part of one line or message (characters). */
const characters = 1_000;

/** Truncates third-party text, and redacts the deployment's secrets in it. */
export function redactorOf({ secrets }: Pick<Deployment, 'secrets'>): (text: string) => string {
  const redactor = new Redactor(() => undefined);
  redactor.add(secrets);
  return (text) => redactor.redactStart(text, characters);
}

/** The last lines of a revision's build and deploy logs, oldest first. What cannot be had is left out. */
export async function lastLines(
  work: ReconcileContext,
  deployment: Deployment,
  revisionId: string,
): Promise<LogEntry[]> {
  const { control } = work.context;
  const query = { order: 'desc', limit: lines } as const;
  const redact = redactorOf(deployment);
  const built = await newest(work, control.buildLogs(deployment.id, revisionId, query, reading(work)));
  const deployed = await newest(work, control.deployLogs(deployment.id, revisionId, query, reading(work)));
  return [...built, ...deployed].slice(-lines).map(({ id, timestamp, level, message }) => ({
    id,
    timestamp,
    level,
    message: redact(message),
  }));
}

async function newest(work: ReconcileContext, call: Promise<LogPage>): Promise<LogEntry[]> {
  const page = await attempt(call);
  if (!page.ok) {
    work.context.log(`log lines could not be read: ${page.error.message}`, { deployment: work.lease.deploymentId });
    return [];
  }
  return page.value.logs.slice(0, lines).toReversed();
}
