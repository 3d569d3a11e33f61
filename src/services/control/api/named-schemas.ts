import type * as z from 'zod';
import * as keys from '../../../contract/control/api-key.ts';
import { container, envVar, volume, volumeMount } from '../../../contract/control/container.ts';
import { deploymentCreateRequest, deploymentPatchRequest } from '../../../contract/control/deployment.ts';
import {
  listenerComputeConfig,
  listenerCreateRequest,
  listenerPatchRequest,
} from '../../../contract/control/listener.ts';
import * as work from '../../../contract/control/listener-work.ts';
import { logQuery } from '../../../contract/control/log.ts';
import { resourceSpec } from '../../../contract/control/resource-spec.ts';
import { secret, secretReference } from '../../../contract/control/secret.ts';
import { listenerConfig, sourceConfigRequest, sourceRevisionConfigRequest } from '../../../contract/control/source.ts';
import { session, sessionCreateRequest, sessionPatchRequest } from '../../../contract/control/session.ts';
import { pushToken, uploadTarget } from '../../../contract/control/upload.ts';
import { bulkDeletion } from '../deployments/delete.ts';
import { revisionPackage, revisionPackages } from '../../../contract/control/revision.ts';
import { commit, revisionCause, revisionStep } from '../../../contract/control/revision-history.ts';
import { deploymentSummaries, deploymentSummary } from '../../../contract/control/deployment-summary.ts';
import * as baselines from '../../../contract/control/baseline.ts';
import * as verdicts from '../../../contract/control/verdict.ts';
import * as exchange from '../../../contract/control/token-exchange.ts';
import * as trust from '../../../contract/control/trust-policy.ts';
import { info } from './service-operations.ts';
import { uploaded } from '../uploads/operations.ts';
import * as responses from './response-schemas.ts';

/** The schemas that have a name in the document, with the public service's names where it has them. */
export const namedSchemas: Readonly<Record<string, z.ZodType>> = {
  ApiKey: keys.apiKey,
  ApiKeyCreateRequest: keys.apiKeyCreateRequest,
  ApiKeysList: keys.apiKeysList,
  AuditList: keys.auditList,
  AuditRecord: keys.auditRecord,
  Baseline: baselines.baseline,
  BaselineAnswer: baselines.baselineAnswer,
  BaselineRequest: baselines.baselineRequest,
  BulkDeletion: bulkDeletion,
  ClaimedRevision: work.claimedRevision,
  ClaimStanding: work.claimStanding,
  Commit: commit,
  Container: container,
  Deployment: responses.deploymentResponse,
  DeploymentCreateRequest: deploymentCreateRequest,
  DeploymentPatchRequest: deploymentPatchRequest,
  DeploymentSummaries: deploymentSummaries,
  DeploymentSummary: deploymentSummary,
  DeploymentsList: responses.deploymentsResponse,
  EnvVar: envVar,
  ExchangedKey: exchange.exchangedKey,
  GithubIntegration: responses.integrationResponse,
  GithubRepository: responses.repositoryResponse,
  HistoryEntry: responses.historyEntryResponse,
  HTTPValidationError: responses.fieldProblemsResponse,
  Info: info,
  Listener: responses.listenerResponse,
  ListenerComputeConfig: listenerComputeConfig,
  ListenerConfig: listenerConfig,
  ListenerCreateRequest: listenerCreateRequest,
  ListenerPatchRequest: listenerPatchRequest,
  ListenersList: responses.listenersResponse,
  LogLine: responses.logLineResponse,
  LogPage: responses.logPageResponse,
  LogQuery: logQuery,
  NewApiKey: keys.newApiKey,
  Problem: responses.problemResponse,
  PushToken: pushToken,
  ResourceSpec: resourceSpec,
  Revision: responses.revisionResponse,
  RevisionCause: revisionCause,
  RevisionHistory: responses.revisionHistoryResponse,
  RevisionPackage: revisionPackage,
  RevisionPackages: revisionPackages,
  RevisionStep: revisionStep,
  RevisionsList: responses.revisionsResponse,
  Secret: secret,
  SecretReference: secretReference,
  Session: session,
  SessionCreateRequest: sessionCreateRequest,
  SessionPatchRequest: sessionPatchRequest,
  SourceConfig: responses.sourceConfigResponse,
  SourceConfigRequest: sourceConfigRequest,
  SourceRevisionConfig: responses.revisionConfigResponse,
  SourceRevisionConfigRequest: sourceRevisionConfigRequest,
  Uploaded: uploaded,
  TokenExchangeRequest: exchange.tokenExchangeRequest,
  TrustPoliciesList: trust.trustPoliciesList,
  TrustPolicy: trust.trustPolicy,
  TrustPolicyCreateRequest: trust.trustPolicyCreateRequest,
  UploadTarget: uploadTarget,
  ReportedExpectation: verdicts.reportedExpectation,
  ReportedTest: verdicts.reportedTest,
  ValidationError: responses.fieldProblemResponse,
  Verdict: verdicts.verdict,
  VerdictReport: verdicts.verdictReport,
  VerdictsList: verdicts.verdictsList,
  Volume: volume,
  VolumeMount: volumeMount,
  WorkClaim: work.workClaim,
  WorkReport: work.workReport,
  WorkRequest: work.workRequest,
};
