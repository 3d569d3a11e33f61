import * as z from 'zod';
import { deployment, deploymentStatuses } from '../../../contract/control/deployment.ts';
import { githubIntegration, githubRepository } from '../../../contract/control/integration.ts';
import { computeType, listener, listenerComputeConfig } from '../../../contract/control/listener.ts';
import { hold, holdDecisions, revision } from '../../../contract/control/revision.ts';
import { revisionStatuses } from '../../../contract/control/revision-status.ts';
import { historyEntry } from '../../../contract/control/revision-history.ts';
import { secret, secretReference } from '../../../contract/control/secret.ts';
import { source, sourceConfigTypes, sourceRevisionConfigTypes } from '../../../contract/control/source.ts';

// Exact schemas of this service's responses. The contract's schemas are looser, because they also read other services.

const id = z.uuid();
const time = z.iso.datetime();
const text = z.string();

export const sourceConfigResponse = z.looseObject(sourceConfigTypes);

export const revisionConfigResponse = z.looseObject({
  ...sourceRevisionConfigTypes,
  repo_commit_sha: text.nullable(),
  source_tarball_digest: text.nullable(),
});

export const deploymentResponse = z.looseObject({
  ...deployment.shape,
  id,
  tenant_id: id,
  source,
  source_config: sourceConfigResponse,
  source_revision_config: revisionConfigResponse,
  secrets: z.array(secret),
  secret_references: z.array(secretReference).nullable(),
  created_at: time,
  updated_at: time,
  status: z.enum(deploymentStatuses),
  status_message: text.nullable(),
  latest_revision_id: id.nullable(),
  active_revision_id: id.nullable(),
  image_version: text.nullable(),
  tracer_session_id: id.nullable(),
  url: text.nullable(),
});

export const revisionResponse = z.looseObject({
  ...revision.shape,
  id,
  created_at: time,
  updated_at: time,
  status: z.enum(revisionStatuses),
  status_message: text.nullable(),
  source,
  source_revision_config: revisionConfigResponse,
  hold: z
    .looseObject({ ...hold.shape, ends_at: time.nullable(), decision: z.enum(holdDecisions).nullable() })
    .optional(),
});

const offset = z.int().min(0);
export const deploymentsResponse = z.object({ resources: z.array(deploymentResponse), offset });
export const historyEntryResponse = z.looseObject({ ...historyEntry.shape, revision: revisionResponse });
export const revisionHistoryResponse = z.object({ resources: z.array(historyEntryResponse), offset });
export const revisionsResponse = z.object({ resources: z.array(revisionResponse), offset });

export const listenerResponse = z.looseObject({
  ...listener.shape,
  id,
  version: text.nullable(),
  compute_type: computeType,
  compute_id: text,
  compute_config: listenerComputeConfig,
  last_report_at: time.nullable(),
  created_at: time,
  updated_at: time,
});
export const listenersResponse = z.object({ resources: z.array(listenerResponse), offset });

export const integrationResponse = z.looseObject({
  ...githubIntegration.shape,
  id,
  installation_id: z.int(),
  name: text,
});
export const repositoryResponse = z.looseObject({
  ...githubRepository.shape,
  host_integration_id: id,
  id: z.int(),
  default_branch: text.nullable(),
});

export const logLineResponse = z.object({ id: text, timestamp: time, level: text, message: text });
export const logPageResponse = z.object({ logs: z.array(logLineResponse), next_offset: text.nullable() });

/** The body of a 400 and other refusals: one sentence per broken rule. */
export const problemResponse = z.object({ detail: text });
export const fieldProblemResponse = z.object({
  loc: z.array(z.union([text, z.int()])),
  msg: text,
  type: text,
});
export const fieldProblemsResponse = z.object({ detail: z.array(fieldProblemResponse) });
