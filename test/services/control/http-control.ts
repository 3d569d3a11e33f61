import { trustPoliciesList, trustPolicy } from '../../../src/contract/control/trust-policy.ts';
import * as z from 'zod';
import { apiKeysList, newApiKey, auditList } from '../../../src/contract/control/api-key.ts';
import { deployment, deploymentsList } from '../../../src/contract/control/deployment.ts';
import { health } from '../../../src/contract/control/health.ts';
import { githubBranch, githubIntegrations, githubRepositories } from '../../../src/contract/control/integration.ts';
import { listener, listenersList } from '../../../src/contract/control/listener.ts';
import { claimStanding, workClaim } from '../../../src/contract/control/listener-work.ts';
import { logPage } from '../../../src/contract/control/log.ts';
import { pushToken, uploadTarget } from '../../../src/contract/control/upload.ts';
import {
  tracedRunResponse,
  tracedRunsList,
  tracingProject,
  tracingProjectsList,
} from '../../../src/contract/control/tracing-project.ts';
import { revisionPackages, revision, revisionsList } from '../../../src/contract/control/revision.ts';
import { revisionHistory } from '../../../src/contract/control/revision-history.ts';
import { deploymentSummaries } from '../../../src/contract/control/deployment-summary.ts';
import { baseline } from '../../../src/contract/control/baseline.ts';
import { verdict, verdictsList } from '../../../src/contract/control/verdict.ts';
import type { ChangeOptions } from '../../../src/contract/control/service.ts';
import { kindOfStatus } from '../../../src/client/attempt-failure.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { bulkDeletion } from '../../../src/services/control/deployments/delete.ts';
import type { OurControlService } from '../../../src/services/control/service.ts';

const problems = z.object({
  detail: z.array(z.strictObject({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string(), type: z.string() })),
});
const sentence = z.object({ detail: z.string() });
const info = z.object({
  idempotency_keys: z.boolean(),
  verdicts: z.boolean(),
  baselines: z.boolean(),
  holds: z.boolean(),
  pins_commits: z.boolean(),
  copies_builds: z.boolean(),
  scales_to_zero: z.boolean(),
});

const conditions = ({ ifLatest, idempotencyKey, holdSeconds, commit, buildOf, idleAfter }: ChangeOptions = {}): Record<
  string,
  string
> => ({
  ...(ifLatest === undefined ? {} : { 'if-match': `"${ifLatest}"` }),
  ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  ...(holdSeconds === undefined ? {} : { 'landfall-hold': String(holdSeconds) }),
  ...(commit === undefined ? {} : { 'landfall-commit': commit }),
  ...(buildOf === undefined ? {} : { 'landfall-build-of': buildOf }),
  ...(idleAfter === undefined ? {} : { 'landfall-idle-after': String(idleAfter) }),
});

/** The control service over HTTP, with a client written for these tests alone. */
export function httpControl(baseUrl: string, apiKey: string): OurControlService {
  async function send<T>(
    shape: z.ZodType<T>,
    method: string,
    path: string,
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<T> {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const read: unknown = text === '' ? undefined : JSON.parse(text);
    if (answer.ok) return shape.parse(read);
    throw new ServiceError({
      kind: kindOfStatus(answer.status),
      operation: 'test',
      method,
      address: path.replace(/\?.*/, ''),
      status: answer.status,
      effect: 'none',
      ...(answer.status === 422 ? { problems: problems.parse(read).detail } : { detail: sentence.parse(read).detail }),
    });
  }
  const query = (requested: unknown): string => {
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(requested ?? {})) words.set(key, String(value));
    return words.size === 0 ? '' : `?${words.toString()}`;
  };
  const one = (id: string) => `/v2/deployments/${encodeURIComponent(id)}`;
  const ofRevision = (id: string, revisionId: string) => `${one(id)}/revisions/${encodeURIComponent(revisionId)}`;
  const project = (id: string, revisionId: string) => `/v1/projects/${id}/revisions/${revisionId}`;
  return {
    createDeployment: (body, options) => send(deployment, 'POST', '/v2/deployments', body, conditions(options)),
    getDeployment: (id) => send(deployment, 'GET', one(id)),
    listDeployments: (requested) => send(deploymentsList, 'GET', `/v2/deployments${query(requested)}`),
    patchDeployment: (id, body, options) => send(deployment, 'PATCH', one(id), body, conditions(options)),
    deleteDeployment: (id, requested, options) =>
      send(z.undefined(), 'DELETE', `${one(id)}${query(requested)}`, undefined, conditions(options)),
    deleteDeployments: (requested, options) =>
      send(bulkDeletion, 'DELETE', `/v2/deployments${query(requested)}`, undefined, conditions(options)),
    createRevision: (id, body, options) => send(revision, 'POST', `${one(id)}/revisions`, body, conditions(options)),
    redeployRevision: (id, revisionId, options) =>
      send(deployment, 'POST', `${ofRevision(id, revisionId)}/redeploy`, undefined, conditions(options)),
    getRevision: (id, revisionId) => send(revision, 'GET', ofRevision(id, revisionId)),
    listRevisions: (id, requested) => send(revisionsList, 'GET', `${one(id)}/revisions${query(requested)}`),
    listRevisionPackages: (id, revisionId) => send(revisionPackages, 'GET', `${ofRevision(id, revisionId)}/packages`),
    interruptRevision: (id, revisionId, options) =>
      send(revision, 'POST', `${ofRevision(id, revisionId)}/interruption`, undefined, conditions(options)),
    promoteRevision: (id, revisionId, body, options) =>
      send(revision, 'POST', `${ofRevision(id, revisionId)}/promote`, body, conditions(options)),
    discardRevision: (id, revisionId, body, options) =>
      send(revision, 'POST', `${ofRevision(id, revisionId)}/discard`, body, conditions(options)),
    listRevisionHistory: (id, requested) =>
      send(revisionHistory, 'GET', `${one(id)}/revision-history${query(requested)}`),
    reportVerdict: (id, revisionId, body, options) =>
      send(verdict, 'POST', `${ofRevision(id, revisionId)}/verdicts`, body, conditions(options)),
    listVerdicts: (id, revisionId) => send(verdictsList, 'GET', `${ofRevision(id, revisionId)}/verdicts`),
    keepBaseline: (id, revisionId, hash, body, options) =>
      send(baseline, 'PUT', `${ofRevision(id, revisionId)}/baselines/${hash}`, body, conditions(options)),
    getBaseline: (id, revisionId, hash) => send(baseline, 'GET', `${ofRevision(id, revisionId)}/baselines/${hash}`),
    listDeploymentSummaries: (requested) =>
      send(deploymentSummaries, 'GET', `/v2/deployment-summaries${query(requested)}`),
    buildLogs: (id, revisionId, body) => send(logPage, 'POST', `${project(id, revisionId)}/build_logs`, body),
    deployLogs: (id, revisionId, body) => send(logPage, 'POST', `${project(id, revisionId)}/deploy_logs`, body),
    deploymentHealth: (id, requested) => send(health, 'GET', `${one(id)}/health${query(requested)}`),
    deployLogsOfAll: (id, body) => send(logPage, 'POST', `/v1/projects/${id}/deploy_logs`, body),
    deploymentLogs: (id, requested) => send(logPage, 'GET', `${one(id)}/logs${query(requested)}`),
    revisionLogs: (id, revisionId, requested) =>
      send(logPage, 'GET', `${ofRevision(id, revisionId)}/logs${query(requested)}`),
    logsByQuery: (requested) => send(logPage, 'GET', `/v2/deployment-logs${query(requested)}`),
    followLog: () => {
      throw new Error('a log is followed by its events');
    },
    listIntegrations: () => send(githubIntegrations, 'GET', '/v1/integrations/github/install'),
    listRepositories: (id) => send(githubRepositories, 'GET', `/v1/integrations/github/${id}/repos`),
    listBranches: (id, owner, repo) =>
      send(z.array(githubBranch), 'GET', `/v1/integrations/github/${id}/repos/${owner}/${repo}/branches`),
    listListeners: (requested) => send(listenersList, 'GET', `/v2/listeners${query(requested)}`),
    listApiKeys: (requested) => send(apiKeysList, 'GET', `/v1/api-keys${query(requested)}`),
    createApiKey: (body, options) => send(newApiKey, 'POST', '/v1/api-keys', body, conditions(options)),
    revokeApiKey: (id, options) =>
      send(z.undefined(), 'DELETE', `/v1/api-keys/${encodeURIComponent(id)}`, undefined, conditions(options)),
    listTrustPolicies: (requested) => send(trustPoliciesList, 'GET', `/v1/trust-policies${query(requested)}`),
    createTrustPolicy: (body, options) => send(trustPolicy, 'POST', '/v1/trust-policies', body, conditions(options)),
    deleteTrustPolicy: (id, options) =>
      send(z.undefined(), 'DELETE', `/v1/trust-policies/${encodeURIComponent(id)}`, undefined, conditions(options)),
    listAudit: (requested) => send(auditList, 'GET', `/v1/audit${query(requested)}`),
    requestUpload: (id, options) => send(uploadTarget, 'POST', `${one(id)}/upload-url`, undefined, conditions(options)),
    requestPushToken: (id) => send(pushToken, 'POST', `${one(id)}/push-token`),
    features: async () => {
      const read = await send(info, 'GET', '/info');
      const { idempotency_keys: idempotencyKeys, verdicts, baselines, holds } = read;
      const { pins_commits: pinsCommits, copies_builds: copiesBuilds, scales_to_zero: scalesToZero } = read;
      return { idempotencyKeys, verdicts, baselines, holds, pinsCommits, copiesBuilds, scalesToZero };
    },
    getListener: (id) => send(listener, 'GET', `/v2/listeners/${encodeURIComponent(id)}`),
    listProjects: (requested) => send(tracingProjectsList, 'GET', `/v1/projects${query(requested)}`),
    getProject: (id) => send(tracingProject, 'GET', `/v1/projects/${encodeURIComponent(id)}`),
    listProjectRuns: (id, requested) => send(tracedRunsList, 'GET', `/v1/projects/${id}/runs${query(requested)}`),
    getProjectRun: (id, run) => send(tracedRunResponse, 'GET', `/v1/projects/${id}/runs/${encodeURIComponent(run)}`),
    deleteProject: (id, options) =>
      send(z.undefined(), 'DELETE', `/v1/projects/${encodeURIComponent(id)}`, undefined, conditions(options)),
    createListener: (body, options) => send(listener, 'POST', '/v2/listeners', body, conditions(options)),
    patchListener: (id, body, options) =>
      send(listener, 'PATCH', `/v2/listeners/${encodeURIComponent(id)}`, body, conditions(options)),
    deleteListener: (id, options) =>
      send(z.undefined(), 'DELETE', `/v2/listeners/${encodeURIComponent(id)}`, undefined, conditions(options)),
    claimWork: (id, body) => send(workClaim.optional(), 'POST', `/v2/listeners/${id}/claims`, body),
    renewClaim: (id, claim) => send(claimStanding, 'POST', `/v2/listeners/${id}/claims/${claim}/renewal`),
    reportWork: (id, claim, body) => send(claimStanding, 'PUT', `/v2/listeners/${id}/claims/${claim}/status`, body),
    releaseClaim: (id, claim, requested) =>
      send(z.undefined(), 'DELETE', `/v2/listeners/${id}/claims/${claim}${query(requested)}`),
  };
}
