import type { Deployment } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { HistoryEntry } from '../../contract/control/revision-history.ts';
import type { ServiceSession } from './service-session.ts';

/** A revision of a list, as far as the service tells. */
export interface RevisionRow {
  id: string;
  status: string;
  message: string | null;
  isLive: boolean;
  /** Where it answers while it is held before traffic. */
  heldAt: string | null;
  commit: string | null;
  subject: string | null;
  /** Why it exists: null where the service does not record that. */
  cause: string | null;
  verdict: string | null;
  createdAt: string | null;
  /** The statuses that it has had, oldest first. */
  statuses: readonly { status: string; message: string | null; at: string }[];
}

/** The newest revisions of a deployment, newest first. */
export async function readRevisions(
  deployment: Deployment,
  limit: number,
  { control, overview }: Pick<ServiceSession, 'control' | 'overview'>,
): Promise<RevisionRow[]> {
  const history = await overview.history(deployment.id, limit);
  if (history) return history.map(ofHistory);
  const { resources } = await control.listRevisions(deployment.id, { limit });
  return resources.map((revision) => ofRevision(revision, deployment));
}

const ofHistory = ({ revision, cause, commit, statuses, verdict, is_live: isLive }: HistoryEntry): RevisionRow => ({
  ...common(revision),
  isLive,
  commit: commit?.sha ?? revision.source_revision_config.repo_commit_sha ?? null,
  subject: commit?.subject ?? null,
  cause: cause.kind,
  verdict: verdict?.kind ?? null,
  statuses,
});

/** What a service without a history tells of a revision. */
const ofRevision = (revision: Revision, { active_revision_id }: Deployment): RevisionRow => ({
  ...common(revision),
  isLive: revision.id === active_revision_id,
  commit: revision.source_revision_config.repo_commit_sha ?? null,
  subject: null,
  cause: null,
  verdict: null,
  statuses: [],
});

function common(revision: Revision): Pick<RevisionRow, 'id' | 'status' | 'message' | 'heldAt' | 'createdAt'> {
  const { hold, status } = revision;
  const isHeld = hold?.decision === null && hold.ends_at !== null && classOfRevisionStatus(status) === 'in-progress';
  return {
    id: revision.id,
    status,
    message: revision.status_message ?? null,
    heldAt: isHeld ? hold.address : null,
    createdAt: revision.created_at ?? null,
  };
}

/** The state of a revision in one word: that it serves or is held comes before its status. */
export function stateOfRevision({ isLive, heldAt, status }: RevisionRow): string {
  if (isLive) return 'live';
  return heldAt === null ? status : 'held';
}
