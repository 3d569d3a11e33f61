import { agentAddress } from '../../contract/control/deployment.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { systemClock } from '../../kit/clock.ts';
import { exitCodes, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { consoleAddress } from './open.ts';
import { stateOf } from './list.ts';
import { revisionColumns } from './revisions.ts';
import { readRevisions, type RevisionRow } from './revision-rows.ts';
import { type Invocation, withDeployment } from './service-session.ts';
import { ageText, jsonRows } from './text-table.ts';

/** How many revisions are looked at, and how many events are shown. */
const maxRevisions = 20;
const maxEvents = 8;

/** What happened to a revision. */
interface DeploymentEvent {
  at: string;
  revisionId: string;
  status: string;
  message: string | null;
}

/** Prints one deployment: what serves, what is on its way or held, and what happened last. */
export function showStatus(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async (session, deployment) => {
    const rows = await readRevisions(deployment, maxRevisions, session);
    const live = rows.find(({ isLive }) => isLive);
    const newer = live ? rows.slice(0, rows.indexOf(live)) : rows;
    const open = newer.filter(({ status }) => classOfRevisionStatus(status) === 'in-progress');
    const [latest] = rows;
    const failed = latest && classOfRevisionStatus(latest.status) === 'failed' ? latest : undefined;
    const [url, page] = [agentAddress(deployment), await consoleAddress(deployment, session)];
    const events = lastEvents(rows);
    const state = open.length > 0 ? 'deploying' : failed ? 'failed' : stateOf(deployment);
    const now = systemClock.now();
    const print = (label: string, text: string): void => terminal.print(`${label.padEnd(12)}${text}`);
    print('Deployment', `${deployment.name} (${state})`);
    print('Address', url ?? 'none yet');
    if (page !== undefined) print('Console', page);
    print('Live', live ? revisionText(live, now) : (deployment.active_revision_id ?? 'no revision serves'));
    for (const row of open) print(row.heldAt === null ? 'On its way' : 'Held', revisionText(row, now));
    if (failed) print('Failed', revisionText(failed, now));
    if (events.length > 0) terminal.print('\nLast events, newest first');
    for (const event of events) terminal.print(`  ${eventText(event, now)}`);
    const [liveRow = null] = live ? jsonRows(revisionColumns, [live]) : [];
    terminal.conclude({
      deployment: { id: deployment.id, name: deployment.name, state, url: url ?? null, console_url: page ?? null },
      live: liveRow,
      in_progress: jsonRows(revisionColumns, open),
      failed: failed ? (jsonRows(revisionColumns, [failed])[0] ?? null) : null,
      events: events.map(({ revisionId, ...event }) => ({ ...event, revision_id: revisionId })),
    });
    return exitCodes.passes;
  });
}

/** A revision as one line. */
function revisionText(row: RevisionRow, now: number): string {
  const { id, status, isLive, heldAt, commit, subject, verdict, createdAt, message } = row;
  const parts = [
    id,
    ...(isLive || heldAt !== null ? [] : [status]),
    commit === null ? '' : `commit ${shortCommit(commit)}${subject === null ? '' : ` "${asLine(subject, 60)}"`}`,
    verdict === null ? '' : `tests ${verdict}`,
    createdAt === null ? '' : `made ${ageText(createdAt, now)} ago`,
    heldAt === null ? '' : `at ${heldAt}`,
    isLive || message === null ? '' : asLine(message, 200),
  ];
  return parts.filter((part) => part !== '').join(', ');
}

/** The newest statuses of all revisions, newest first; where they are not recorded, when each was made. */
function lastEvents(rows: readonly RevisionRow[]): DeploymentEvent[] {
  return rows
    .flatMap(({ id, status, message, statuses, createdAt }) =>
      statuses.length > 0 || createdAt === null
        ? statuses.map((each) => ({ ...each, revisionId: id }))
        : [{ at: createdAt, status, message, revisionId: id }],
    )
    .toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at))
    .slice(0, maxEvents);
}

function eventText({ at, revisionId, status, message }: DeploymentEvent, now: number): string {
  const age = `${ageText(at, now)} ago`.padEnd(12);
  return `${age}${revisionId.slice(0, 8)}  ${status}${message === null ? '' : `: ${asLine(message, 200)}`}`;
}
