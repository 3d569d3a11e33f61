import type { ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { defaultLimit } from './option-values.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import { readRevisions, type RevisionRow, stateOfRevision } from './revision-rows.ts';
import { type Invocation, printList, withDeployment } from './service-session.ts';
import { ageText, type Column } from './text-table.ts';

/** The fields of `landfall revisions`. */
export const revisionColumns: readonly Column<RevisionRow>[] = [
  { field: 'id', heading: 'REVISION', value: ({ id }) => id },
  { field: 'state', heading: 'STATE', value: stateOfRevision },
  { field: 'status', value: ({ status }) => status },
  {
    field: 'commit',
    heading: 'COMMIT',
    value: ({ commit }) => commit,
    text: ({ commit }) => shortCommit(commit ?? ''),
    leftOut: 3,
  },
  { field: 'cause', heading: 'CAUSE', value: ({ cause }) => cause, leftOut: 2 },
  { field: 'verdict', heading: 'VERDICT', value: ({ verdict }) => verdict, leftOut: 4 },
  {
    field: 'created_at',
    heading: 'MADE',
    value: ({ createdAt }) => createdAt,
    text: ({ createdAt }, now) => ageText(createdAt, now),
    leftOut: 5,
  },
  { field: 'held_address', value: ({ heldAt }) => heldAt },
  { field: 'message', value: ({ message }) => message },
  { field: 'subject', heading: 'SUBJECT', value: ({ subject }) => subject, isCut: true, leftOut: 1 },
];

/** Lists the newest revisions of a deployment. */
export function listRevisions(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withDeployment(invocation, terminal, async (session, deployment) => {
    const rows = await readRevisions(deployment, Number(invocation.options['limit'] ?? defaultLimit), session);
    const none = `Deployment ${deployment.name} has no revision.`;
    return printList({ name: 'revisions', columns: revisionColumns, none }, rows, terminal);
  });
}
