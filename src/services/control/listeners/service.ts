import * as z from 'zod';
import {
  listener,
  listenerCreateRequest,
  listenerPatchRequest,
  type Listener,
  type ListenerCreateRequest,
  type ListenerPatchRequest,
  type ListenersList,
} from '../../../contract/control/listener.ts';
import type { WriteOptions } from '../../../contract/control/service.ts';
import { pageQuery } from '../../../contract/control/pages.ts';
import { fieldAt } from '../validation/field.ts';
import { accepted, againstRules, type ValidationResult } from '../validation/refusal.ts';
import { readBody } from '../validation/shape.ts';
import { toListenerResponse } from '../deployments/response.ts';
import { Call, createIdempotentWrite } from '../service/call.ts';
import type { ListenerRecord } from '../store/tables.ts';
import type { ListenerChange } from './repository.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** Creates, reads, changes and deletes listeners (docs/design/contract.md#endpoints). */
export function listenerOperations(settings: ServiceDependencies) {
  const { store, tenantId } = settings;
  const once = createIdempotentWrite(settings);
  return {
    async createListener(body: unknown, { idempotencyKey }: WriteOptions = {}): Promise<Listener> {
      const call = new Call('create listener', 'POST', '/v2/listeners');
      const request = call.value(readListener(body));
      const { version, compute_type, compute_id, compute_config } = request;
      return once(call, { idempotencyKey, body: request, shape: listener }, async (within, record) => {
        const added = await within.addListener(tenantId, {
          compute_type,
          compute_id,
          k8s_namespaces: compute_config.k8s_namespaces ?? [],
          ...(version == null ? {} : { version }),
        });
        if (!added) throw call.refusal({ status: 409, detail: takenMessage(compute_id) });
        await record({ listener_id: added.id, compute_id });
        return toListenerResponse(added);
      });
    },

    async listListeners(query: unknown): Promise<ListenersList> {
      const call = new Call('list listeners', 'GET', '/v2/listeners');
      const page = call.query(pageQuery, query);
      const listeners = await store.listListeners(tenantId, page);
      return { resources: listeners.map(toListenerResponse), offset: (page.offset ?? 0) + listeners.length };
    },

    async getListener(id: string): Promise<Listener> {
      const call = new Call('get listener', 'GET', `/v2/listeners/${id}`);
      const listenerId = call.id('listener_id', id);
      return toListenerResponse(call.found('Listener', id, await store.findListener(tenantId, listenerId)));
    },

    async patchListener(id: string, body: unknown, { idempotencyKey }: WriteOptions = {}): Promise<Listener> {
      const call = new Call('patch listener', 'PATCH', `/v2/listeners/${id}`);
      const listenerId = call.id('listener_id', id);
      const patch = call.value(readListenerPatch(body));
      return once(call, { idempotencyKey, body: patch, shape: listener }, async (within, record) => {
        const changed = await within.changeListener(tenantId, listenerId, (current) => {
          const judged = judgeListenerPatch(current, patch);
          return judged.ok ? judged.value : { refused: judged.refusal };
        });
        const end = call.found('Listener', id, changed);
        if (end.kind === 'refused') throw call.refusal(end.refusal);
        if (end.kind === 'in-use') throw call.refusal({ status: 409, detail: namespacesInUseMessage(end.names) });
        await record({ listener_id: listenerId, compute_id: end.listener.compute_id });
        return toListenerResponse(end.listener);
      });
    },

    /** Refused while deployments use the listener: no other one can remove them from their cluster. */
    async deleteListener(id: string, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = new Call('delete listener', 'DELETE', `/v2/listeners/${id}`);
      const listenerId = call.id('listener_id', id);
      await once(call, { idempotencyKey, shape: z.null() }, async (within, record) => {
        const end = call.found('Listener', id, await within.removeListener(tenantId, listenerId));
        if (end.kind === 'in-use') throw call.refusal({ status: 409, detail: inUseMessage(end.names) });
        await record({ listener_id: listenerId });
        return null;
      });
    },
  };
}

const takenMessage = (computeId: string): string =>
  `A listener with the compute_id ${computeId} exists already. Use it, or choose another compute_id.`;

const maxListedNames = 10;

function listNames(names: readonly string[]): string {
  const more = names.length - maxListedNames;
  return `${names.slice(0, maxListedNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const inUseMessage = (names: readonly string[]): string =>
  `This listener is in use by ${listNames(names)}. Delete these deployments first, and leave the listener running until they are gone; where its cluster is gone for good, delete them with without_listener=true.`;

const namespacesInUseMessage = (names: readonly string[]): string =>
  `compute_config.k8s_namespaces leaves out namespaces in which there are deployments: ${listNames(names)}. Keep these namespaces, or delete the deployments first.`;

function readListener(body: unknown): ValidationResult<ListenerCreateRequest> {
  const read = readBody(listenerCreateRequest, body);
  if (!read.ok) return read;
  const twice = duplicateProblem(read.value.compute_config.k8s_namespaces);
  return twice === undefined ? read : againstRules([twice]);
}

/** A change of a listener, with the fields of the body that a change may only repeat. */
interface ReadListenerPatch {
  request: ListenerPatchRequest;
  restated: { compute_type: unknown; compute_id: unknown };
}

function readListenerPatch(body: unknown): ValidationResult<ReadListenerPatch> {
  const read = readBody(listenerPatchRequest, body);
  if (!read.ok) return read;
  const twice = duplicateProblem(read.value.compute_config?.k8s_namespaces);
  if (twice !== undefined) return againstRules([twice]);
  return accepted({
    request: read.value,
    restated: { compute_type: fieldAt(body, 'compute_type'), compute_id: fieldAt(body, 'compute_id') },
  });
}

/**
 * The listener after a change, or why the change is invalid (the public service's `ListenerPatchRequest`).
 * `compute_config` is replaced as a whole; `compute_type` and `compute_id` are fixed and may be repeated.
 */
function judgeListenerPatch(
  current: ListenerRecord,
  { request, restated }: ReadListenerPatch,
): ValidationResult<ListenerChange> {
  const problems = (['compute_type', 'compute_id'] as const)
    .filter((field) => restated[field] != null && restated[field] !== current[field])
    .map((field) => `${field} was set on create and cannot be changed: it is ${JSON.stringify(current[field])}.`);
  if (problems.length > 0) return againstRules(problems);
  return accepted({
    version: request.version ?? current.version,
    compute_config: request.compute_config ?? current.compute_config,
  });
}

function duplicateProblem(namespaces: readonly string[] | null | undefined): string | undefined {
  const twice = namespaces?.find((name, at) => namespaces.indexOf(name) < at);
  return twice === undefined ? undefined : `compute_config.k8s_namespaces names ${twice} twice.`;
}
