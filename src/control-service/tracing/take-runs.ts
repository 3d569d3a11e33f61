import * as z from 'zod';
import { tracedRunsReport } from '../../contract/control/tracing-project.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { readBody } from '../rules/shape.ts';
import { found, take } from '../service/refuse.ts';
import type { ControlStore } from '../store/store.ts';
import type { Tracing } from './tracing.ts';

/**
 * Takes what an agent tells of its runs (an addition of ours). It is let in by the token of its project alone: whoever has
 * it can add runs there, and read nothing.
 *
 * @param bearer what was sent as `Authorization: Bearer`.
 */
export async function takeRuns(
  { store, tracing }: { store: Pick<ControlStore, 'hasTracingProject' | 'putTracedRuns'>; tracing: Tracing },
  projectId: string,
  bearer: string | undefined,
  body: unknown,
): Promise<{ taken: number }> {
  const path = `/v1/projects/${projectId}/runs`;
  const call = { operation: 'tell runs', method: 'POST', path };
  const id = z.uuid().safeParse(projectId).data?.toLowerCase();
  if (bearer === undefined || id === undefined || !tracing.isTokenOf(id, bearer)) {
    throw new ServiceError({
      kind: 'unauthorized',
      operation: call.operation,
      method: call.method,
      address: path,
      status: 401,
      effect: 'none',
      detail: 'Runs are told with the token of their tracing project, as Authorization: Bearer <token>.',
    });
  }
  const { runs } = take(call, readBody(tracedRunsReport, body));
  // A token outlives its project, since it is derived.
  found(call, 'Tracing project', id, (await store.hasTracingProject(id)) || undefined);
  return { taken: await store.putTracedRuns(id, runs) };
}
