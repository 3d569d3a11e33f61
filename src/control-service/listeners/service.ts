import * as z from 'zod';
import { listener } from '../../contract/control/listener.ts';
import type { Listener, ListenersList } from '../../contract/control/listener.ts';
import type { WriteOptions } from '../../contract/control/service.ts';
import { judgeListenerPatch, readListener, readListenerPatch } from './changes.ts';
import { plainPage } from '../validation/queries.ts';
import type { Refusal } from '../validation/refusal.ts';
import { readShape } from '../validation/shape.ts';
import { toListenerResponse } from '../deployments/response.ts';
import { writing } from '../service/once.ts';
import { found, refusedCall, take, takeId } from '../service/refuse.ts';
import type { ServiceSettings } from '../service/settings.ts';

/** Making, reading, changing and removing listeners (control-service.md, `GET /v2/listeners`, and the public document). */
export function listenerOperations(settings: ServiceSettings) {
  const { store, tenantId } = settings;
  const once = writing(settings);
  return {
    async createListener(body: unknown, { idempotencyKey }: WriteOptions = {}): Promise<Listener> {
      const call = { operation: 'create listener', method: 'POST', path: '/v2/listeners' };
      const request = take(call, readListener(body));
      const { version, compute_type, compute_id, compute_config } = request;
      return once(call, { idempotencyKey, body: request, shape: listener }, async (within, record) => {
        const added = await within.addListener(tenantId, {
          compute_type,
          compute_id,
          k8s_namespaces: compute_config.k8s_namespaces ?? [],
          ...(version == null ? {} : { version }),
        });
        if (!added) throw refusedCall(call, { status: 409, detail: taken(compute_id) });
        await record({ listener_id: added.id, compute_id });
        return toListenerResponse(added);
      });
    },

    async listListeners(query: unknown): Promise<ListenersList> {
      const call = { operation: 'list listeners', method: 'GET', path: '/v2/listeners' };
      const page = take(call, readShape(plainPage, query, 'query'));
      const listeners = await store.listListeners(tenantId, page);
      return { resources: listeners.map(toListenerResponse), offset: (page.offset ?? 0) + listeners.length };
    },

    async getListener(id: string): Promise<Listener> {
      const call = { operation: 'get listener', method: 'GET', path: `/v2/listeners/${id}` };
      const listenerId = takeId(call, 'listener_id', id);
      return toListenerResponse(found(call, 'Listener', id, await store.findListener(tenantId, listenerId)));
    },

    async patchListener(id: string, body: unknown, { idempotencyKey }: WriteOptions = {}): Promise<Listener> {
      const call = { operation: 'patch listener', method: 'PATCH', path: `/v2/listeners/${id}` };
      const listenerId = takeId(call, 'listener_id', id);
      const patch = take(call, readListenerPatch(body));
      return once(call, { idempotencyKey, body: patch, shape: listener }, async (within, record) => {
        const changed = await within.changeListener<Refusal>(tenantId, listenerId, (current) => {
          const judged = judgeListenerPatch(current, patch);
          return judged.ok ? judged.value : { refused: judged.refusal };
        });
        const end = found(call, 'Listener', id, changed);
        if (end.kind === 'refused') throw refusedCall(call, end.refusal);
        if (end.kind === 'in-use') throw refusedCall(call, { status: 409, detail: deployedThere(end.names) });
        await record({ listener_id: listenerId, compute_id: end.listener.compute_id });
        return toListenerResponse(end.listener);
      });
    },

    /** Refused while deployments depend on it: only it can remove them from their cluster. */
    async deleteListener(id: string, { idempotencyKey }: WriteOptions = {}): Promise<void> {
      const call = { operation: 'delete listener', method: 'DELETE', path: `/v2/listeners/${id}` };
      const listenerId = takeId(call, 'listener_id', id);
      await once(call, { idempotencyKey, shape: z.null() }, async (within, record) => {
        const end = found(call, 'Listener', id, await within.removeListener(tenantId, listenerId));
        if (end.kind === 'in-use') throw refusedCall(call, { status: 409, detail: inUse(end.names) });
        await record({ listener_id: listenerId });
        return null;
      });
    },
  };
}

const taken = (computeId: string): string =>
  `A listener with the compute_id ${computeId} exists already. Use it, or choose another compute_id.`;

/** The most names in the message. */
const reported = 10;

function list(names: readonly string[]): string {
  const more = names.length - reported;
  return `${names.slice(0, reported).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const inUse = (names: readonly string[]): string =>
  `This listener is in use by ${list(names)}. Delete these deployments first, and leave the listener running until they are gone; where its cluster is gone for good, delete them with without_listener=true.`;

const deployedThere = (names: readonly string[]): string =>
  `compute_config.k8s_namespaces leaves out namespaces in which there are deployments: ${list(names)}. Keep these namespaces, or delete the deployments first.`;
