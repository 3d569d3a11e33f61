import { listenerCreateRequest, listenerPatchRequest } from '../../contract/control/listener.ts';
import type { ListenerCreateRequest, ListenerPatchRequest } from '../../contract/control/listener.ts';
import { fieldAt } from './field.ts';
import { accepted, againstRules } from './refusal.ts';
import type { Judged } from './refusal.ts';
import { readBody } from './shape.ts';

/** Reads the body of POST /v2/listeners by its shape and bounds. No namespace is named twice. */
export function readListener(body: unknown): Judged<ListenerCreateRequest> {
  const read = readBody(listenerCreateRequest, body);
  if (!read.ok) return read;
  const twice = namedTwice(read.value.compute_config.k8s_namespaces);
  return twice === undefined ? read : againstRules([twice]);
}

/** A change of a listener: what it sets, and the fixed fields that stand beside it. */
export interface ReadListenerPatch {
  request: ListenerPatchRequest;
  /** What a change may only restate. */
  restated: { compute_type: unknown; compute_id: unknown };
}

/** Reads the body of PATCH /v2/listeners/{id} by its shape and bounds. */
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

/** What a change looks at of the listener as it is. */
export interface CurrentListener {
  version: string | null;
  compute_type: string;
  compute_id: string;
  compute_config: { k8s_namespaces?: string[] | null | undefined };
}

/**
 * What a listener becomes by a change, or why it may not (the public service's `ListenerPatchRequest`). `compute_config`
 * is set whole; `compute_type` and `compute_id` were set on create and may be restated.
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
