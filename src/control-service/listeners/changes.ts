import { listenerCreateRequest, listenerPatchRequest } from '../../contract/control/listener.ts';
import type { ListenerCreateRequest, ListenerPatchRequest } from '../../contract/control/listener.ts';
import { fieldAt } from '../validation/field.ts';
import { accepted, againstRules } from '../validation/refusal.ts';
import type { Judged } from '../validation/refusal.ts';
import { readBody } from '../validation/shape.ts';

/** Parses the body of POST /v2/listeners. Rejects duplicate namespaces. */
export function readListener(body: unknown): Judged<ListenerCreateRequest> {
  const read = readBody(listenerCreateRequest, body);
  if (!read.ok) return read;
  const twice = namedTwice(read.value.compute_config.k8s_namespaces);
  return twice === undefined ? read : againstRules([twice]);
}

/** A change of a listener, with the fixed fields of the body. */
export interface ReadListenerPatch {
  request: ListenerPatchRequest;
  /** The fields that a change may only repeat. */
  restated: { compute_type: unknown; compute_id: unknown };
}

/** Parses the body of PATCH /v2/listeners/{id}. */
export function readListenerPatch(body: unknown): Judged<ReadListenerPatch> {
  const read = readBody(listenerPatchRequest, body);
  if (!read.ok) return read;
  const twice = namedTwice(read.value.compute_config?.k8s_namespaces);
  if (twice !== undefined) return againstRules([twice]);
  return accepted({
    request: read.value,
    restated: { compute_type: fieldAt(body, 'compute_type'), compute_id: fieldAt(body, 'compute_id') },
  });
}

/** The current listener, as far as a change needs it. */
export interface CurrentListener {
  version: string | null;
  compute_type: string;
  compute_id: string;
  compute_config: { k8s_namespaces?: string[] | null | undefined };
}

/**
 * The listener after a change, or why the change is invalid (the public service's `ListenerPatchRequest`).
 * `compute_config` is replaced as a whole; `compute_type` and `compute_id` are fixed and may be repeated.
 */
export function judgeListenerPatch(
  current: CurrentListener,
  { request, restated }: ReadListenerPatch,
): Judged<Pick<CurrentListener, 'version' | 'compute_config'>> {
  const problems = (['compute_type', 'compute_id'] as const)
    .filter((field) => restated[field] != null && restated[field] !== current[field])
    .map((field) => `${field} was set on create and cannot be changed: it is ${JSON.stringify(current[field])}.`);
  if (problems.length > 0) return againstRules(problems);
  return accepted({
    version: request.version ?? current.version,
    compute_config: request.compute_config ?? current.compute_config,
  });
}

function namedTwice(namespaces: readonly string[] | null | undefined): string | undefined {
  const twice = namespaces?.find((name, at) => namespaces.indexOf(name) < at);
  return twice === undefined ? undefined : `compute_config.k8s_namespaces names ${twice} twice.`;
}
