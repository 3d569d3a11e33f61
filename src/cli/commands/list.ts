import type { Deployment } from '../../contract/control/deployment.ts';
import { agentAddress } from '../../contract/control/deployment.ts';
import type { DeploymentSummary } from '../../contract/control/deployment-summary.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';
import { shortCommit } from '../../contract/control/repo-ref.ts';
import type { ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { type Invocation, printList, withService } from './service-session.ts';
import { ageText, type Column } from './text-table.ts';

/** A deployment of the list, as far as the service tells. */
interface ListedDeployment {
  id: string;
  name: string;
  state: string;
  commit: string | null;
  verdict: string | null;
  changedAt: string | null;
  url: string | null;
}

/** The fields of `landfall list`. */
export const listColumns: readonly Column<ListedDeployment>[] = [
  { field: 'name', heading: 'NAME', value: ({ name }) => name, isCut: true },
  { field: 'id', value: ({ id }) => id },
  { field: 'state', heading: 'STATE', value: ({ state }) => state },
  {
    field: 'live_commit',
    heading: 'COMMIT',
    value: ({ commit }) => commit,
    text: ({ commit }) => shortCommit(commit ?? ''),
    leftOut: 2,
  },
  { field: 'verdict', heading: 'VERDICT', value: ({ verdict }) => verdict, leftOut: 3 },
  {
    field: 'changed_at',
    heading: 'CHANGED',
    value: ({ changedAt }) => changedAt,
    text: ({ changedAt }, now) => ageText(changedAt, now),
    leftOut: 4,
  },
  { field: 'url', heading: 'ADDRESS', value: ({ url }) => url, leftOut: 1 },
];

/** Lists the deployments of the service. */
export function listDeployments(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  return withService(invocation, terminal, async ({ control, overview }) => {
    const summaries = await overview.summaries();
    const rows =
      summaries?.map(ofSummary) ?? (await allEntriesOf((page) => control.listDeployments(page))).map(ofDeployment);
    const none = 'The service has no deployment. Make the first one with landfall deploy.';
    return printList({ name: 'deployments', columns: listColumns, none }, rows, terminal);
  });
}

const ofSummary = (summary: DeploymentSummary): ListedDeployment => ({
  ...summary,
  commit: summary.live_commit?.sha ?? null,
  changedAt: summary.last_change?.at ?? null,
});

/** What a service without summaries tells of a deployment. */
const ofDeployment = (deployment: Deployment): ListedDeployment => ({
  id: deployment.id,
  name: deployment.name,
  state: stateOf(deployment),
  commit: null,
  verdict: null,
  changedAt: deployment.updated_at,
  url: agentAddress(deployment) ?? null,
});

/** The state of a deployment, by the words of a summary where it alone decides one; else its status. */
export function stateOf({ status, active_revision_id }: Deployment): string {
  if (status === 'AWAITING_DELETE') return 'deleting';
  if (status !== 'READY') return status;
  return active_revision_id === null ? 'not-deployed' : 'live';
}
