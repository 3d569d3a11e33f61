import { randomUUID } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { RunCreate } from '../../contract/agent/run.ts';
import type { StoredAssistant } from '../assistants/assistant.ts';
import type { AssistantStore } from '../assistants/store.ts';
import { contextProblems } from '../graphs/context.ts';
import { GraphNotMade } from '../graphs/graph-not-made.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { missing, noAssistant, Refusal } from '../refusal.ts';
import type { CheckWebhook } from '../webhooks/webhooks.ts';
import { planRun } from './run-plan.ts';
import type { Carried, RunPlan } from './run-plan.ts';

/** What is needed to say whether a run can be accepted. */
export interface AcceptanceParts {
  assistants: Pick<AssistantStore, 'get'>;
  graphs: Pick<Graphs, 'has' | 'make'>;
  clock: Clock;
  checkWebhook: CheckWebhook;
}

/** A run that is asked for. */
export interface Order {
  request: RunCreate;
  /** Undefined for a stateless run. */
  threadId: string | undefined;
  carried: Carried;
}

/**
 * Plans a run and holds it to what it is a run of.
 *
 * @throws Refusal when the run can't be accepted, its thread aside.
 */
export async function planOrder(
  { request, threadId, carried }: Order,
  { assistants, graphs, clock, checkWebhook }: AcceptanceParts,
): Promise<RunPlan> {
  checkWebhook(request.webhook);
  const plan = planRun(request, {
    runId: randomUUID(),
    threadId: threadId ?? randomUUID(),
    stateless: threadId === undefined,
    carried,
    now: clock.now(),
    assistant: await theAssistant(request.assistant_id, assistants, graphs),
  });
  await checkContext(plan, graphs);
  return plan;
}

async function theAssistant(
  idOrGraph: string,
  assistants: Pick<AssistantStore, 'get'>,
  graphs: AcceptanceParts['graphs'],
): Promise<StoredAssistant> {
  const assistant = await assistants.get(idOrGraph);
  if (!assistant) throw noAssistant(idOrGraph);
  if (!graphs.has(assistant.graph_id)) {
    throw missing(
      `Assistant ${assistant.assistant_id} is of graph "${assistant.graph_id}", which this revision does not have.`,
    );
  }
  return assistant;
}

async function checkContext({ graphId, kwargs, temporary }: RunPlan, graphs: AcceptanceParts['graphs']): Promise<void> {
  const config = { configurable: kwargs.config.configurable };
  // A function of the agent's that makes no graph for this run is how the run fails: it is called again there.
  const graph = await graphs.make(graphId, config, temporary ? 'nothing' : 'thread').catch(expected);
  if (graph === undefined) return;
  const problems = await contextProblems(graph, kwargs.context ?? config.configurable, { mayLack: false });
  if (problems.length > 0) throw new Refusal(422, problems);
}

function expected(error: unknown): undefined {
  if (!(error instanceof GraphNotMade)) throw error;
}
