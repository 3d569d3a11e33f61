import * as z from 'zod';
import { tracedRunsReport } from '../../contract/control/tracing-project.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { readBody } from '../validation/shape.ts';
import { foundOrThrow, valueOrThrow } from '../service/refuse.ts';
import type { ControlStore } from '../store/store.ts';
import { runMask } from './mask-run.ts';
import type { Tracing } from './tracing.ts';

/** What receives the runs of agents. */
export interface TracedRunsIntake {
  store: Pick<ControlStore, 'hasTracingProject' | 'putTracedRuns' | 'secretsOfProject'>;
  tracing: Tracing;
}

/**
 * Stores the runs that an agent reports (an addition of ours). The project's token is the only authentication: it
 * allows adding runs there, and reading nothing.
 *
 * @param bearer the token of `Authorization: Bearer`.
 */
export async function takeRuns(
  { store, tracing }: TracedRunsIntake,
  projectId: string,
  bearer: string | undefined,
  body: unknown,
): Promise<{ taken: number }> {
  const path = `/v1/projects/${projectId}/runs`;
  const call = { operation: 'report runs', method: 'POST', path };
  const id = z.uuid().safeParse(projectId).data?.toLowerCase();
  if (bearer === undefined || id === undefined || !tracing.isTokenOf(id, bearer)) {
    throw new ServiceError({
      kind: 'unauthorized',
      operation: call.operation,
      method: call.method,
      address: path,
      status: 401,
      effect: 'none',
      detail: 'The token of the tracing project is missing or invalid. Send it as Authorization: Bearer <token>.',
    });
  }
  const { runs } = valueOrThrow(call, readBody(tracedRunsReport, body));
  // A token outlives its project, since it is derived.
  foundOrThrow(call, 'Tracing project', id, (await store.hasTracingProject(id)) || undefined);
  const revisions = runs.flatMap(({ revision_id }) => z.uuid().safeParse(revision_id).data ?? []);
  // As in an agent's log, its secrets are masked in what its runs hold.
  const secrets = await store.secretsOfProject(id, [...new Set(revisions)]);
  const mask = runMask([...secrets, tracing.tokenOf(id)]);
  return { taken: await store.putTracedRuns(id, runs.map(mask)) };
}
