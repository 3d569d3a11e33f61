import { allowsScope } from '../../../contract/control/api-key-scopes.ts';
import type { Deployment, DeploymentsList } from '../../../contract/control/deployment.ts';
import { buildOfHeader, type Revision } from '../../../contract/control/revision.ts';
import type { ChangeOptions, ControlFeatures, WriteOptions } from '../../../contract/control/service.ts';
import { checkHold } from '../revisions/hold-decision.ts';
import { foreignImageProblem } from '../registry/registry-address.ts';
import { checkCreate, readCreate, unknownListener } from './validation/create.ts';
import { deletedSince, keyOfAnother, readKeyedWrite, type KeyedWrite } from '../validation/idempotency-key.ts';
import { checkPatch, readPatch } from './validation/patch.ts';
import { checkIdleAfter } from './validation/idle-after.ts';
import { checkPin, type RequestedPin } from './validation/pinned-build.ts';
import { deploymentsPage } from '../validation/queries.ts';
import type { NamedTarball } from './validation/value-problems.ts';
import { checkRedeploy } from './validation/redeploy.ts';
import { theService } from '../store/audit.ts';
import type { DeploymentChange, DeploymentView } from '../store/records.ts';
import type { DeploymentRecord } from '../store/tables.ts';
import type { Refusal } from '../validation/refusal.ts';
import { customUrl, toDeploymentResponse, toRevisionResponse } from './response.ts';
import { Call, beingDeleted } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** Creates, reads and changes deployments. Validates bodies here, so that every entry point is equally strict. */
export function deploymentOperations({
  store,
  rollouts,
  tenantId,
  baseUrl,
  allowGit,
  hosting = 'any',
  graphConfigLater = false,
  registry,
  integrations,
  holds = false,
  maxPreviews,
  by = theService,
  scopes = ['admin'],
}: ServiceDependencies) {
  const toResponse = (view: DeploymentView): Deployment => {
    const response = toDeploymentResponse(view, baseUrl());
    if (allowsScope(scopes, 'deploy')) return response;
    return { ...response, secrets: response.secrets?.map(({ name }) => ({ name, value: null })) };
  };

  const holdFacts = ({ source, source_config }: Pick<DeploymentRecord, 'source' | 'source_config'>) => ({
    holds,
    listener: source_config.listener_id != null,
    image: source === 'external_docker' || source === 'internal_docker',
  });

  async function change(
    call: Call,
    id: string,
    {
      ifLatest,
      keyed,
      hold,
      idleAfter,
    }: Pick<ChangeOptions, 'ifLatest' | 'idleAfter'> & { keyed: KeyedWrite | undefined; hold?: number | undefined },
    decide: (current: DeploymentRecord) => DeploymentChange | { refused: Refusal },
  ): Promise<DeploymentView> {
    let makesRevision = false;
    const decideNow = (current: DeploymentRecord): DeploymentChange | { refused: Refusal } => {
      if (current.deletion !== 'none') return { refused: beingDeleted };
      if (ifLatest !== undefined && ifLatest !== current.latest_revision_id) {
        return { refused: { status: 412, detail: tooLate(current.latest_revision_id) } };
      }
      const held = checkHold(hold, holdFacts(current));
      if (!held.ok) return { refused: held.refusal };
      const idle = checkIdleAfter(idleAfter, current.source_config);
      if (!idle.ok) return { refused: idle.refusal };
      const decision = decide(current);
      makesRevision = !('refused' in decision) && decision.revision !== 'none';
      return 'refused' in decision ? decision : { ...decision, hold: held.value, idleAfter };
    };
    const end = call.found(
      'Deployment',
      id,
      await store.changeDeployment(tenantId, id, decideNow, keyed, { by, operation: call.operation }),
    );
    if (end.kind === 'refused') throw call.refusal(end.refusal);
    if (end.kind === 'key-of-another') throw call.refusal(keyOfAnother(end.request));
    if (end.kind === 'deleted-since') throw call.refusal(deletedSince);
    if (end.kind === 'changed' && makesRevision) rollouts.wake(id);
    return end;
  }

  async function requestedPin(call: Call, { commit, buildOf }: WriteOptions): Promise<RequestedPin> {
    if (buildOf === undefined) return { commit, from: undefined };
    const from = await store.findRevisionOfTenant(tenantId, call.id(buildOfHeader, buildOf, 'header'));
    return { commit, from: from ?? 'missing' };
  }

  const foreignImage = (imageUri: string | null | undefined): string | undefined =>
    imageUri && registry ? foreignImageProblem(imageUri, registry.address, tenantId) : undefined;

  /** The state of the uploaded tarball that a change names. */
  async function namedTarball(deploymentId: string, path: string | null | undefined): Promise<NamedTarball> {
    const upload = path ? await store.uploads.find(path) : undefined;
    return upload?.deploymentId === deploymentId ? upload.state : 'unknown';
  }

  const patch = async (
    call: Call,
    id: string,
    body: unknown,
    { always = false, ...options }: ChangeOptions & { always?: boolean } = {},
  ): Promise<DeploymentView> => {
    const read = call.value(readPatch(body));
    const keyed = call.value(keyedWrite(call, read.request, options));
    const pin = await requestedPin(call, options);
    const image = foreignImage(read.request.source_revision_config?.image_uri);
    if (image) throw call.refusal({ status: 400, detail: image });
    const tarball = await namedTarball(id, read.request.source_revision_config?.source_tarball_path);
    const { ifLatest, holdSeconds: hold, idleAfter } = options;
    return change(call, id, { ifLatest, keyed, hold, idleAfter }, (current) => {
      const checked = checkPatch({ ...current, shownUrl: customUrl(current, baseUrl()) ?? '' }, read, tarball);
      if (!checked.ok) return { refused: checked.refusal };
      const { requested, revisionFor } = checked.value;
      const pinned = checkPin(pin, { ...current, ...requested });
      if (!pinned.ok) return { refused: pinned.refusal };
      const makesRevision = always || pin.from !== undefined || revisionFor.length > 0;
      return { wanted: requested, revision: makesRevision ? (pinned.value ?? 'new') : 'none' };
    });
  };

  /** The message where a name is in use, with advice. */
  async function conflictMessage(kind: 'name-taken' | 'tracing-project-exists', name: string): Promise<string> {
    if (kind === 'name-taken') {
      const [holder] = await store.listDeployments(tenantId, { name, limit: 1 });
      return holder && holder.deployment.deletion !== 'none'
        ? `A deployment named ${name} is being deleted (${holder.deployment.id}). Wait until reading it answers 404, or choose another name.`
        : `A deployment named ${name} exists already. Choose another name, or change the one that is there.`;
    }
    const project = await store.findTracingProject(tenantId, name);
    return `A tracing project named ${name} exists already, perhaps of a deployment that was deleted. Choose another name, or delete the project: DELETE /v1/projects/${project?.id ?? '{project_id}'}.`;
  }

  return {
    /** With a key (`WriteOptions`), this and every change below happens once, even if it is sent again. */
    async createDeployment(body: unknown, options: WriteOptions = {}): Promise<Deployment> {
      const call = new Call('create deployment', 'POST', '/v2/deployments');
      const request = call.value(readCreate(body));
      const keyed = call.value(keyedWrite(call, request, options));
      const pin = await requestedPin(call, options);
      const { integration_id, listener_id } = request.source_config;
      const integration = integration_id ? await store.findIntegration(tenantId, integration_id) : undefined;
      const listener = listener_id ? await store.findListener(tenantId, listener_id) : undefined;
      const { repo_url } = request.source_config;
      const integrationProblem =
        integration && repo_url ? await integrations?.problem(integration, repo_url) : undefined;
      const integrationKnown = integration !== undefined;
      const facts = { integrationKnown, integrationProblem, listener, hosting, graphConfigLater, allowGit };
      const requested = call.value(checkCreate(request, facts));
      const image = foreignImage(request.source_revision_config.image_uri);
      if (image) throw call.refusal({ status: 400, detail: image });
      const hold = call.value(checkHold(options.holdSeconds, holdFacts(request)));
      const build = call.value(checkPin(pin, requested));
      const idleAfter = call.value(checkIdleAfter(options.idleAfter, request.source_config));
      const end = await store.createDeployment(
        tenantId,
        { ...requested, hold, build, idleAfter },
        keyed,
        {
          by,
          operation: call.operation,
        },
        maxPreviews,
      );
      if (end.kind === 'too-many-previews') throw call.refusal({ status: 400, detail: tooManyPreviews(maxPreviews) });
      if (end.kind === 'key-of-another') throw call.refusal(keyOfAnother(end.request));
      if (end.kind === 'deleted-since') throw call.refusal(deletedSince);
      if (end.kind === 'listener-gone') throw call.refusal({ status: 400, detail: unknownListener });
      if (end.kind === 'name-taken' || end.kind === 'tracing-project-exists') {
        throw call.refusal({ status: 409, detail: await conflictMessage(end.kind, requested.name) });
      }
      if (end.kind === 'created') rollouts.wake(end.deployment.id);
      return toResponse(end);
    },

    async getDeployment(id: string): Promise<Deployment> {
      const call = new Call('get deployment', 'GET', `/v2/deployments/${id}`);
      const deploymentId = call.id('deployment_id', id);
      return toResponse(call.found('Deployment', id, await store.findDeployment(tenantId, deploymentId)));
    },

    async listDeployments(query: unknown): Promise<DeploymentsList> {
      const call = new Call('list deployments', 'GET', '/v2/deployments');
      const page = call.query(deploymentsPage, query);
      const views = await store.listDeployments(tenantId, page);
      return { resources: views.map(toResponse), offset: (page.offset ?? 0) + views.length };
    },

    /** With `ifLatest`, refuses the change with a 412 where that revision is no longer the latest. */
    async patchDeployment(id: string, body: unknown, options: ChangeOptions = {}): Promise<Deployment> {
      const call = new Call('patch deployment', 'PATCH', `/v2/deployments/${id}`);
      return toResponse(await patch(call, call.id('deployment_id', id), body, options));
    },

    /** POST /v2/deployments/{id}/revisions: a change that always creates a revision, even if it is empty. */
    async createRevision(id: string, body: unknown, options: ChangeOptions = {}): Promise<Revision> {
      const call = new Call('create revision', 'POST', `/v2/deployments/${id}/revisions`);
      const view = await patch(call, call.id('deployment_id', id), body, { ...options, always: true });
      return toRevisionResponse(view.latest, baseUrl());
    },

    async redeployRevision(id: string, revisionId: string, options: ChangeOptions = {}): Promise<Deployment> {
      const call = new Call('redeploy revision', 'POST', `/v2/deployments/${id}/revisions/${revisionId}/redeploy`);
      const deploymentId = call.id('deployment_id', id);
      const earlierId = call.id('revision_id', revisionId);
      call.found('Deployment', id, await store.findDeployment(tenantId, deploymentId));
      const earlier = call.found('Revision', revisionId, await store.findRevision(deploymentId, earlierId));
      const keyed = call.value(
        keyedWrite(call, null, { ...options, commit: undefined, buildOf: undefined, idleAfter: undefined }),
      );
      const { ifLatest, holdSeconds: hold } = options;
      const view = await change(call, deploymentId, { ifLatest, keyed, hold }, (current) => {
        const judged = checkRedeploy(current, earlier);
        if (!judged.ok) return { refused: judged.refusal };
        return { wanted: judged.value, revision: { ...earlier, redeploy_of: earlier.id } };
      });
      return toResponse(view);
    },

    async features(): Promise<ControlFeatures> {
      const always = { pinsCommits: true, copiesBuilds: true, scalesToZero: true };
      return { idempotencyKeys: true, verdicts: true, baselines: true, holds, ...always };
    },
  };
}

/** The write with its key, which its body and the headers that decide about its revision identify. */
function keyedWrite(
  call: Call,
  body: unknown,
  { idempotencyKey, holdSeconds: hold, commit, buildOf, idleAfter }: WriteOptions,
) {
  const headers = {
    ...(hold === undefined ? {} : { hold }),
    ...(commit === undefined ? {} : { commit }),
    ...(buildOf === undefined ? {} : { buildOf }),
    ...(idleAfter === undefined ? {} : { idleAfter }),
  };
  const written = Object.keys(headers).length === 0 ? body : { body, ...headers };
  return readKeyedWrite(idempotencyKey, call.key, written);
}

const tooManyPreviews = (max = 0): string =>
  `This workspace has as many previews as the service allows: ${max}. Remove one, or let the operator allow more (--max-previews).`;

const tooLate = (latest: string | null): string =>
  `The latest revision is ${latest ?? 'none'} by now, and not the one that If-Match names. Look at the deployment again before you change it.`;
