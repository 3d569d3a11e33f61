import type * as z from 'zod';
import { apiKey, apiKeyCreateRequest, apiKeysList, newApiKey } from '../../contract/control/api-key.ts';
import { auditList, auditRecord } from '../../contract/control/audit.ts';
import { container, envVar, volume, volumeMount } from '../../contract/control/container.ts';
import { deploymentCreateRequest, deploymentPatchRequest } from '../../contract/control/deployment.ts';
import { listenerComputeConfig, listenerCreateRequest, listenerPatchRequest } from '../../contract/control/listener.ts';
import {
  claimedRevision,
  claimStanding,
  workClaim,
  workReport,
  workRequest,
} from '../../contract/control/listener-work.ts';
import { logQuery } from '../../contract/control/log.ts';
import { resourceSpec } from '../../contract/control/resource-spec.ts';
import { secret, secretReference } from '../../contract/control/secret.ts';
import { listenerConfig, sourceConfigRequest, sourceRevisionConfigRequest } from '../../contract/control/source.ts';
import { pushToken, uploadTarget } from '../../contract/control/upload.ts';
import { nameSchemas } from '../../openapi/named-schemas.ts';
import { bulkDeletion } from '../service/deletion.ts';
import { info } from './service.ts';
import { uploaded } from './sources.ts';
import * as told from './told.ts';

/** Everything that has a name of its own in the description; the public service's name where it has it too. */
const named: Readonly<Record<string, z.ZodType>> = {
  ApiKey: apiKey,
  ApiKeyCreateRequest: apiKeyCreateRequest,
  ApiKeysList: apiKeysList,
  AuditList: auditList,
  AuditRecord: auditRecord,
  BulkDeletion: bulkDeletion,
  ClaimedRevision: claimedRevision,
  ClaimStanding: claimStanding,
  Container: container,
  Deployment: told.toldDeployment,
  DeploymentCreateRequest: deploymentCreateRequest,
  DeploymentPatchRequest: deploymentPatchRequest,
  DeploymentsList: told.toldDeployments,
  EnvVar: envVar,
  GithubIntegration: told.toldIntegration,
  GithubRepository: told.toldRepository,
  HTTPValidationError: told.toldFieldProblems,
  Info: info,
  Listener: told.toldListener,
  ListenerComputeConfig: listenerComputeConfig,
  ListenerConfig: listenerConfig,
  ListenerCreateRequest: listenerCreateRequest,
  ListenerPatchRequest: listenerPatchRequest,
  ListenersList: told.toldListeners,
  LogLine: told.toldLogLine,
  LogPage: told.toldLogPage,
  LogQuery: logQuery,
  NewApiKey: newApiKey,
  Problem: told.toldProblem,
  PushToken: pushToken,
  ResourceSpec: resourceSpec,
  Revision: told.toldRevision,
  RevisionsList: told.toldRevisions,
  Secret: secret,
  SecretReference: secretReference,
  SourceConfig: told.toldSourceConfig,
  SourceConfigRequest: sourceConfigRequest,
  SourceRevisionConfig: told.toldRevisionConfig,
  SourceRevisionConfigRequest: sourceRevisionConfigRequest,
  Uploaded: uploaded,
  UploadTarget: uploadTarget,
  ValidationError: told.toldFieldProblem,
  Volume: volume,
  VolumeMount: volumeMount,
  WorkClaim: workClaim,
  WorkReport: workReport,
  WorkRequest: workRequest,
};

/** Every named schema, and how one that stands in an operation is told. */
export const schemas = nameSchemas(named);
