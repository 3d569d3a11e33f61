import * as z from 'zod';
import { tracedRunsReport, type TracedRun, type TracedStep } from '../../../contract/control/tracing-project.ts';
import { Call } from '../service/call.ts';
import type { ControlStore } from '../store/store.ts';
import { agentMask, type TokensOfAgents } from '../service/agent-mask.ts';
import type { Tracing } from './tracing.ts';
import { isObject } from '../../../kit/json-object.ts';
import { maskCutText, type Mask } from '../../../contract/masking/mask.ts';

/** What receives the runs of agents. */
export interface TracedRunsIntake extends TokensOfAgents {
  store: Pick<ControlStore, 'agentRecord' | 'putTracedRuns'>;
  tracing: Tracing;
}

/**
 * Stores the runs that an agent reports (an addition of ours). The project's token is the only authentication: it
 * allows adding runs there, and reading nothing.
 *
 * @param bearer the token of `Authorization: Bearer`.
 */
export async function takeRuns(
  { store, tracing, agentTokens }: TracedRunsIntake,
  projectId: string,
  bearer: string | undefined,
  body: unknown,
): Promise<{ taken: number }> {
  const call = new Call('report runs', 'POST', `/v1/projects/${projectId}/runs`);
  const id = z.uuid().safeParse(projectId).data?.toLowerCase();
  if (bearer === undefined || id === undefined || !tracing.isTokenOf(id, bearer)) {
    const detail = 'The token of the tracing project is missing or invalid. Send it as Authorization: Bearer <token>.';
    throw call.refusal({ status: 401, detail });
  }
  const { runs } = call.body(tracedRunsReport, body);
  const revisions = runs.flatMap(({ revision_id }) => z.uuid().safeParse(revision_id).data ?? []);
  // A token outlives its project and its deployment, since it is derived. Without a deployment its secrets are unknown,
  // so nothing of a run could be masked.
  const agent = await store.agentRecord({ projectId: id }, [...new Set(revisions)]);
  if (!agent) throw call.refusal({ status: 404, detail: `Tracing project ID ${id} has no deployment.` });
  const mask = agentMask(agent, { tracing, agentTokens });
  const masked = runs.map((run) => maskRun(run, mask));
  return { taken: await store.putTracedRuns(id, masked) };
}

function maskRun({ error, input, output, steps, ...run }: TracedRun, mask: Mask): TracedRun {
  const step = (each: TracedStep): TracedStep => ({
    ...each,
    input: maskedValue(each.input, mask),
    output: maskedValue(each.output, mask),
    error: each.error === null ? null : maskCutText(mask, each.error),
  });
  return {
    ...run,
    error: error && { error: maskCutText(mask, error.error), message: maskCutText(mask, error.message) },
    ...(input === undefined ? {} : { input: maskedValue(input, mask) }),
    ...(output === undefined ? {} : { output: maskedValue(output, mask) }),
    ...(steps === undefined ? {} : { steps: steps.map(step) }),
  };
}

function maskedValue(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return maskCutText(mask, value);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, mask));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [mask(key), maskedValue(member, mask)]));
}
