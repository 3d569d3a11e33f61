import type { RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { Source } from '../../../contract/control/source.ts';
import { missingSource } from './missing-source.ts';
import { accepted, againstRules } from '../../validation/refusal.ts';
import type { Judged } from '../../validation/refusal.ts';
import { hasEnded } from '../../revisions/states.ts';
import { requestProblems } from './requested-deployment.ts';
import type { RequestedDeployment } from './requested-deployment.ts';

/** The earlier revision, as far as the rules need it. */
export interface EarlierRevision extends RequestedDeployment {
  id: string;
  status: RevisionStatus;
  source: Source;
  build_folder: string | null;
}

const built: readonly Source[] = ['github', 'internal_source'];

/**
 * The deployment after redeploying an earlier revision, or why that is impossible (our choice): it takes the revision's
 * build and everything that made it, so that the deployment describes what runs. Fields that change in place and those of
 * a build stay as they are.
 */
export function judgeRedeploy(current: RequestedDeployment, earlier: EarlierRevision): Judged<RequestedDeployment> {
  if (built.includes(earlier.source) && earlier.build_folder === null) {
    return againstRules([
      hasEnded(earlier.status)
        ? `The revision ${earlier.id} has no build that could be deployed again (it ended ${earlier.status}). Choose one that was live.`
        : `The revision ${earlier.id} has no build yet: it is ${earlier.status}. Wait for its end.`,
    ]);
  }
  if (missingSource(earlier)) {
    return againstRules([
      `The revision ${earlier.id} has no image that could be deployed again. Choose one that was live.`,
    ]);
  }
  const { resource_spec } = earlier.source_config;
  const requested = {
    source_config: { ...current.source_config, resource_spec: resource_spec ?? null },
    source_revision_config: earlier.source_revision_config,
    secrets: earlier.secrets,
    secret_references: earlier.secret_references,
  };
  const problems = requestProblems(requested);
  return problems.length > 0 ? againstRules(problems) : accepted(requested);
}
