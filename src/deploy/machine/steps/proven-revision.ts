import type { CallOptions } from '../../../contract/call-options.ts';
import type { Deployment } from '../../../contract/control/deployment.ts';
import type { ControlRecords, ControlService } from '../../../contract/control/service.ts';
import { decidePromotion, type EarlierObstacle, type Promotion } from '../../rules/promotion.ts';
import { findRevision } from './read-deployment.ts';

/** The deployment of the environment before, as far as it was found, and the commit that is asked for, if one is. */
interface Earlier {
  name: string;
  matches: number;
  deployment: Deployment | undefined;
  requested: string | undefined;
}

interface ProofReader {
  control: Pick<ControlService, 'features' | 'getRevision'>;
  verdictsOf: ControlRecords['verdictsOf'] | undefined;
  /** The newest verdict on the revision, where the service keeps none; absent: that is for the caller to know. */
  ownVerdictOn?: ((revisionId: string) => Promise<string | undefined>) | undefined;
  options: () => CallOptions;
}

/** The revision that the environment before serves and has proven, or why there is none. @throws ServiceError */
export async function provenRevision(
  { name, matches, deployment, requested }: Earlier,
  { control, verdictsOf, ownVerdictOn, options }: ProofReader,
): Promise<Promotion | EarlierObstacle> {
  const liveId = deployment?.active_revision_id ?? undefined;
  const live = deployment && liveId ? await findRevision(deployment.id, liveId, { control, options }) : undefined;
  const { verdicts } = await control.features(options());
  const stored = deployment && live && verdicts ? await verdictsOf?.(deployment.id, live.id, options()) : undefined;
  const own = live && (await ownVerdictOn?.(live.id));
  return decidePromotion({
    name,
    matches,
    live: live && { id: live.id, commit: live.source_revision_config.repo_commit_sha ?? undefined },
    verdict: stored?.at(0)?.kind ?? own ?? (verdicts || ownVerdictOn ? undefined : 'unreported'),
    requested,
  });
}
