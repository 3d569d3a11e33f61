import type { ControlOperation } from '../contract/service-error.ts';
import type { CallOptions } from '../contract/call-options.ts';
import { type FieldNameSetting, spellFields } from '../contract/control/aliases.ts';
import { baseline, baselineRequest } from '../contract/control/baseline.ts';
import type { Container } from '../contract/control/container.ts';
import {
  deployment,
  type Deployment,
  deploymentCreateRequest,
  type DeploymentCreateRequest,
  deploymentPatchRequest,
  type DeploymentPatchRequest,
  deploymentsList,
  deploymentsQuery,
  idleAfterHeader,
} from '../contract/control/deployment.ts';
import { githubIntegrations, githubRepositories } from '../contract/control/integration.ts';
import {
  buildOfHeader,
  commitHeader,
  holdDecisionRequest,
  type HoldDecisionRequest,
  holdHeader,
  revision,
  type Revision,
  revisionsList,
  revisionsQuery,
} from '../contract/control/revision.ts';
import { listenersList } from '../contract/control/listener.ts';
import { logPage, logQuery } from '../contract/control/log.ts';
import { idempotencyKey, idempotencyKeyHeader } from '../contract/control/idempotency-key.ts';
import type { ChangeOptions, FullControlService } from '../contract/control/service.ts';
import { verdictReport } from '../contract/control/verdict.ts';
import { pushToken, type TarballStore, uploadTarget } from '../contract/control/upload.ts';
import { isNotOffered } from '../contract/service-error.ts';
import { query, segment, call, type Operation } from './call.ts';
import { featuresOf } from './features.ts';
import { connection, type ConnectionSettings } from './connection.ts';
import { validRequest, type Reader, readJson, readNothing } from './response-readers.ts';
import { tarballStore } from './tarball-store.ts';
import { RequestSpelling } from './request-spelling.ts';

export interface ControlServiceSettings extends ConnectionSettings {
  /** The base URL, including its path prefix if any. */
  baseUrl: string;
  /** The field names of requests; responses may have either. */
  spelling: FieldNameSetting;
}

/** The control service over HTTP; `close` ends its connections and all running calls. */
export interface ControlServiceClient extends FullControlService, TarballStore {
  close(): Promise<void>;
}

const readLogs = readJson(logPage);

/**
 * Creates a client of a control service (docs/design/contract.md#endpoints). Requests are validated before they are
 * sent; responses may have either field spelling. Reads are retried, writes with an unknown outcome never are.
 */
export function connectControlService(settings: ControlServiceSettings): ControlServiceClient {
  const link = connection(settings.baseUrl, settings);
  const spelling = new RequestSpelling(link, settings.spelling);
  const inContractSpelling = (json: unknown): unknown => {
    spelling.observe(json);
    return spellFields(json, 'contract');
  };
  const readDeployment = readJson(deployment, inContractSpelling);
  const readDeployments = readJson(deploymentsList, inContractSpelling);
  const readRevision = readJson(revision, inContractSpelling);
  const readRevisions = readJson(revisionsList, inContractSpelling);

  const deploymentPath = (id: string): string => `/v2/deployments/${segment('the deployment id', id)}`;
  const revisionPath = (id: string, revisionId: string): string =>
    `${deploymentPath(id)}/revisions/${segment('the revision id', revisionId)}`;
  const baselinePath = (id: string, revisionId: string, hash: string): string =>
    `${revisionPath(id, revisionId)}/baselines/${segment('the test hash', hash)}`;

  const get = <T>(name: string, path: string, read: Reader<T>, options?: CallOptions, queryText = ''): Promise<T> =>
    call(link, { name, method: 'GET', path, query: queryText }, read, options);
  const logOperation = (
    kind: 'build' | 'deploy',
    deploymentId: string,
    revisionId: string,
    requested: unknown,
  ): Operation => {
    const name = `read ${kind} logs`;
    const project = segment('the deployment id', deploymentId);
    return {
      name,
      method: 'POST',
      path: `/v1/projects/${project}/revisions/${segment('the revision id', revisionId)}/${kind}_logs`,
      body: validRequest(logQuery, name, requested),
      safe: true,
    };
  };
  const write = (
    operation: Pick<Operation, 'name' | 'method' | 'path'>,
    body: DeploymentCreateRequest | DeploymentPatchRequest,
    options: ChangeOptions | undefined,
  ): Promise<Deployment> => {
    const headers = writeHeaders(operation.name, options);
    const operationWithoutBody = { ...operation, headers, secrets: secretsIn(body) };
    return spelling.send(
      body,
      (spelled) => call(link, { ...operationWithoutBody, body: spelled }, readDeployment, options),
      options,
    );
  };
  const decide =
    (verb: 'promote' | 'discard') =>
    async (id: string, revisionId: string, request: HoldDecisionRequest = {}, options?: CallOptions) => {
      const name = `${verb} revision`;
      const [path, body] = [
        `${revisionPath(id, revisionId)}/${verb}`,
        validRequest(holdDecisionRequest, name, request),
      ];
      // A retry is safe: the service ignores a repeated decision.
      return call<Revision>(link, { name, method: 'POST', path, body, safe: true }, readRevision, options);
    };

  return {
    createDeployment: async (request, options) => {
      const name = 'create deployment' satisfies ControlOperation;
      const body = validRequest(deploymentCreateRequest, name, request);
      return write({ name, method: 'POST', path: '/v2/deployments' }, body, { ...options, ifLatest: undefined });
    },
    getDeployment: async (id, options) =>
      get('get deployment' satisfies ControlOperation, deploymentPath(id), readDeployment, options),
    patchDeployment: async (id, request, options) => {
      const name = 'patch deployment';
      const body = validRequest(deploymentPatchRequest, name, request);
      return write({ name, method: 'PATCH', path: deploymentPath(id) }, body, options);
    },
    getRevision: async (id, revisionId, options) =>
      get('get revision', revisionPath(id, revisionId), readRevision, options),
    listIntegrations: async (options) =>
      get('list integrations', '/v1/integrations/github/install', readJson(githubIntegrations), options),
    listListeners: async (page, options) =>
      get('list listeners', '/v2/listeners', readJson(listenersList), options, query({ ...page })),
    listDeployments: async (requested, options) => {
      const name = 'list deployments';
      const queryText = query(validRequest(deploymentsQuery, name, requested));
      return get(name, '/v2/deployments', readDeployments, options, queryText);
    },
    listRevisions: async (id, requested, options) => {
      const name = 'list revisions';
      const queryText = query(validRequest(revisionsQuery, name, requested));
      return get(name, `${deploymentPath(id)}/revisions`, readRevisions, options, queryText);
    },
    redeployRevision: async (id, revisionId, options) => {
      const name = 'redeploy revision' satisfies ControlOperation;
      const path = `${revisionPath(id, revisionId)}/redeploy`;
      const operation: Operation = { name, method: 'POST', path, headers: writeHeaders(name, options) };
      return call(link, operation, readDeployment, options);
    },
    listRepositories: async (integrationId, options) => {
      const path = `/v1/integrations/github/${segment('the integration id', integrationId)}/repos`;
      return get('list repositories', path, readJson(githubRepositories), options);
    },
    buildLogs: async (id, revisionId, requested, options) =>
      call(link, logOperation('build', id, revisionId, requested), readLogs, options),
    deployLogs: async (id, revisionId, requested, options) =>
      call(link, logOperation('deploy', id, revisionId, requested), readLogs, options),
    reportVerdict: async (id, revisionId, report, options) => {
      const name = 'report verdict';
      const operation: Operation = {
        name,
        method: 'POST',
        path: `${revisionPath(id, revisionId)}/verdicts`,
        headers: writeHeaders(name, options),
        body: validRequest(verdictReport, name, report),
        // The idempotency key makes a retry safe.
        safe: true,
      };
      return call(link, operation, readNothing, options);
    },
    getBaseline: async (id, revisionId, testHash, options) =>
      get('get baseline', baselinePath(id, revisionId, testHash), readJson(baseline), options),
    keepBaseline: async (id, revisionId, testHash, request, options) => {
      const name = 'keep baseline';
      const [path, body] = [baselinePath(id, revisionId, testHash), validRequest(baselineRequest, name, request)];
      return call(link, { name, method: 'PUT', path, body, safe: true }, readNothing, options);
    },
    promoteRevision: decide('promote'),
    discardRevision: decide('discard'),
    features: featuresOf(link),
    deleteDeployment: async (id, { deleteTracingProject }, options) => {
      const [path, queryText] = [deploymentPath(id), query({ delete_tracing_project: deleteTracingProject })];
      const operation: Operation = {
        name: 'delete deployment' satisfies ControlOperation,
        method: 'DELETE',
        path,
        query: queryText,
      };
      return call(link, operation, readNothing, options);
    },
    interruptRevision: async (id, revisionId, options) => {
      const path = `${revisionPath(id, revisionId)}/interruption`;
      return call(link, { name: 'interrupt revision', method: 'POST', path }, readNothing, options);
    },
    requestUpload: async (id, options) => {
      // Safe to retry: it only returns another URL. The specification has the path without the prefix, the public
      // service with it.
      const requestFrom = (path: string) =>
        call(
          link,
          { name: 'request upload' satisfies ControlOperation, method: 'POST', path, safe: true },
          readJson(uploadTarget),
          options,
        );
      const path = `${deploymentPath(id)}/upload-url`;
      try {
        return await requestFrom(path);
      } catch (error) {
        if (!isNotOffered(error)) throw error;
        return requestFrom(path.replace(/^\/v2/, ''));
      }
    },
    requestPushToken: async (id, options) => {
      const path = `${deploymentPath(id)}/push-token`;
      return call(link, { name: 'request push token', method: 'POST', path, safe: true }, readJson(pushToken), options);
    },
    putTarball: tarballStore(settings),
    close: () => link.close(),
  };
}

/** The headers of a write. An invalid idempotency key is a programming error. */
function writeHeaders(
  name: string,
  { ifLatest, idempotencyKey: key, holdSeconds, commit, buildOf, idleAfter }: ChangeOptions = {},
): Record<string, string> {
  return {
    // The id comes from the service; one that is not a valid header value is left out.
    ...(ifLatest !== undefined && /^[\w-]+$/.test(ifLatest) ? { 'if-match': `"${ifLatest}"` } : {}),
    ...(key === undefined ? {} : { [idempotencyKeyHeader.toLowerCase()]: validRequest(idempotencyKey, name, key) }),
    ...(holdSeconds === undefined ? {} : { [holdHeader.toLowerCase()]: String(holdSeconds) }),
    ...(commit === undefined ? {} : { [commitHeader.toLowerCase()]: segment('the commit', commit) }),
    ...(buildOf === undefined ? {} : { [buildOfHeader.toLowerCase()]: segment('the revision id', buildOf) }),
    ...(idleAfter === undefined ? {} : { [idleAfterHeader.toLowerCase()]: String(idleAfter) }),
  };
}

/** The secrets of a request: its secrets, and the environment values of its containers. */
function secretsIn({ secrets, source_config }: DeploymentCreateRequest | DeploymentPatchRequest): string[] {
  const { init_containers, sidecars } = source_config?.resource_spec ?? {};
  const environment = ({ env }: Container): string[] => (env ?? []).flatMap(({ value }) => value ?? []);
  return [
    ...(secrets ?? []).map(({ value }) => value),
    ...[...(init_containers ?? []), ...(sidecars ?? [])].flatMap(environment),
  ];
}
