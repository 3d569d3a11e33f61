import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../kit/clock.ts';
import type { RunCreate } from '../../../contract/agent/run.ts';
import type { RunAuthorizer } from '../auth/run-authorizer.ts';
import { configurableIn, type StoredAssistant } from '../assistants/assistant.ts';
import type { AssistantStore } from '../assistants/store.ts';
import { contextProblems } from '../graphs/context.ts';
import { contextSchemaOf } from '../graphs/context-schema.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { noAssistant, noGraph, Refusal, invalidAt } from '../refusal.ts';
import type { CheckWebhook } from '../webhooks/parse-target.ts';
import { ignoreFactoryError } from './run-error.ts';
import { planRun, type RunMode, type RunPlan } from './run-plan.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { FieldProblem } from '../../../contract/service-error.ts';
import { didYouMean } from '../../../kit/diagnostics/did-you-mean.ts';
import { type Graph, createsRun } from '../graphs/graph.ts';

/** The end of a graph: a valid `goto`, but not a node. */
const endNode = '__end__';

/** The names of a graph's nodes, including the engine's own; undefined if unknown. */
export function nodesOf({ nodes }: Pick<Graph, 'nodes'>): string[] | undefined {
  return typeof nodes === 'object' && nodes !== null ? Object.keys(nodes) : undefined;
}

/** Every node that a run names and its graph lacks: the engine silently ignores it. */
export function nodeProblems(
  { command, interrupt_before, interrupt_after }: Pick<RunCreate, 'command' | 'interrupt_before' | 'interrupt_after'>,
  nodes: readonly string[] | undefined,
): FieldProblem[] {
  if (nodes === undefined) return [];
  const stops = { interrupt_before, interrupt_after };
  const named = [
    ...Object.entries(stops).flatMap(([field, names]) =>
      Array.isArray(names) ? names.map((name, at): NodeReference => ({ loc: [field, at], name })) : [],
    ),
    ...targetsOf(command?.goto),
  ];
  const own = nodes.filter((name) => !name.startsWith('__'));
  const there = own.length === 0 ? 'has none' : `has ${own.map((name) => `"${name}"`).join(', ')}`;
  return named.flatMap(({ loc, name }) => {
    if (nodes.includes(name) || name === endNode) return [];
    const meant = didYouMean(name, own);
    const suggestion = meant === undefined ? '' : `; did you mean "${meant}"?`;
    return [
      { loc: ['body', ...loc], msg: `is no node of this graph, which ${there}${suggestion}`, type: 'value_error' },
    ];
  });
}

interface NodeReference {
  loc: (string | number)[];
  name: string;
}

type Goto = NonNullable<RunCreate['command']>['goto'];

function targetsOf(goto: Goto): NodeReference[] {
  const begin = ['command', 'goto'];
  if (goto === undefined || goto === null) return [];
  if (!Array.isArray(goto)) return [targetAt(begin, goto)];
  return goto.map((target: string | { node: string }, at) => targetAt([...begin, at], target));
}

const targetAt = (loc: (string | number)[], target: string | { node: string }): NodeReference =>
  typeof target === 'string' ? { loc, name: target } : { loc: [...loc, 'node'], name: target.node };

/** Whether a run has an input beside its command, which wins. Some clients send the state there, others an empty object. */
const hasIgnoredInput = ({ input, command }: Pick<RunCreate, 'input' | 'command'>): boolean =>
  command != null && typeof input === 'object' && input !== null && Object.keys(input).length > 0;

/** The maximum length of a warning: it becomes a header. */
export const maxWarningLength = 1_000;

export interface AcceptanceDependencies {
  assistants: Pick<AssistantStore, 'get'>;
  graphs: Pick<Graphs, 'has' | 'list' | 'make'>;
  clock: Clock;
  checkWebhook: CheckWebhook;
  /** Whether a run that names a node which its graph lacks is refused, or accepted with a warning. */
  unknownNodes: 'accept' | 'refuse';
  /** Undefined if the agent has no authorization rules. */
  access?: Pick<RunAuthorizer, 'mayUse'> | undefined;
}

export interface RequestedRun {
  request: RunCreate;
  /** Undefined for a stateless run. */
  threadId: string | undefined;
  mode: RunMode;
  /** Whether it emits the events of the thread-stream protocol. */
  forThreadStream?: boolean | undefined;
}

/** Plans a run. @throws Refusal if its assistant or graph does not accept it; its thread is not checked. */
export async function planRequestedRun(
  { request, threadId, mode, forThreadStream }: RequestedRun,
  { assistants, graphs, clock, checkWebhook, access, unknownNodes }: AcceptanceDependencies,
): Promise<RunPlan> {
  checkWebhook(request.webhook);
  if (threadId === undefined && request.command?.resume != null) {
    const msg = 'needs a thread: a run that waits for an answer waits there. Send it to /threads/{thread_id}/runs';
    throw invalidAt(['body', 'command', 'resume'], msg);
  }
  const assistant = await assistants.get(request.assistant_id);
  if (!assistant) {
    throw noAssistant(request.assistant_id, access ? [] : graphs.list().map(({ graphId }) => graphId));
  }
  // Before any other check: a hidden assistant is reported like a missing one.
  await access?.mayUse(assistant, request);
  if (!graphs.has(assistant.graph_id)) {
    throw noGraph(assistant.graph_id, `Assistant ${assistant.assistant_id}`);
  }
  const plan = planRun(request, {
    runId: randomUUID(),
    threadId: threadId ?? randomUUID(),
    stateless: threadId === undefined,
    mode,
    forThreadStream,
    now: clock.now(),
    assistant,
  });
  return validateAgainstGraph(plan, { request, assistant }, { graphs, unknownNodes });
}

/** Computes the run's context. Throws a Refusal for what the graph does not accept. */
async function validateAgainstGraph(
  plan: RunPlan,
  { request, assistant }: { request: RunCreate; assistant: StoredAssistant },
  { graphs, unknownNodes }: Pick<AcceptanceDependencies, 'graphs' | 'unknownNodes'>,
): Promise<RunPlan> {
  const { graphId, kwargs, temporary } = plan;
  const config = { configurable: kwargs.config.configurable };
  // A factory that fails for this run fails the run itself later: it is called again there.
  const made = { ...config, runtime: createsRun(kwargs.context) };
  const graph = await ignoreFactoryError(graphs.make(graphId, made, temporary ? 'nothing' : 'thread'));
  if (graph === undefined) return plan;
  const schema = contextSchemaOf(graph);
  const { context: given, placeOf } = resolveContext(Object.keys(schema?.shape ?? {}), {
    assistant: { context: assistant.context, configurable: configurableIn(assistant.config) },
    run: { context: request.context, configurable: request.config?.configurable ?? {} },
    ...config,
  });
  const context = given ?? (schema?.isApart ? {} : undefined);
  const ofNodes = nodeProblems(request, nodesOf(graph));
  const problems = [
    ...(unknownNodes === 'refuse' ? ofNodes : []),
    ...(await contextProblems(graph, context ?? config.configurable, {
      mayLack: false,
      sent: request.context,
      placeOf,
    })),
  ];
  if (problems.length > 0) throw new Refusal(422, problems);
  const ignored = [
    ...(hasIgnoredInput(request) ? ['input is ignored, because the run has a command'] : []),
    ...ofNodes.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`),
  ];
  if (ignored.length === 0) return { ...plan, kwargs: { ...kwargs, context } };
  const text = ignored.join('; ');
  const warning = text.length > maxWarningLength ? `${text.slice(0, maxWarningLength)}...` : text;
  return { ...plan, kwargs: { ...kwargs, context }, warning };
}

export interface ContextSource {
  context: FreeObject | undefined;
  configurable: FreeObject;
}

interface ResolvedContext {
  /** Undefined if neither sets any of it. */
  context: FreeObject | undefined;
  placeOf: (key: string | number) => string[];
}

/**
 * The context of a run of a graph with the keys `names`, which win over the assistant's. Without a context, those in
 * `configurable` count, for older clients. @param configurable the run's final one, including reserved names.
 */
export function resolveContext(
  names: readonly string[],
  { assistant, run, configurable }: { assistant: ContextSource; run: ContextSource; configurable: FreeObject },
): ResolvedContext {
  const isByName = isEmpty(run.context);
  const context =
    isByName && isEmpty(assistant.context)
      ? picked(configurable, names)
      : { ...contextOf(assistant, names), ...contextOf(run, names) };
  return {
    context: run.context === undefined && isEmpty(context) ? undefined : context,
    placeOf: (key) =>
      isByName && Object.hasOwn(run.configurable, key) ? ['body', 'config', 'configurable'] : ['body', 'context'],
  };
}

const contextOf = ({ context, configurable }: ContextSource, names: readonly string[]): FreeObject =>
  isEmpty(context) ? picked(configurable, names) : { ...context };

const picked = (configurable: FreeObject, names: readonly string[]): FreeObject =>
  Object.fromEntries(Object.entries(configurable).filter(([key]) => names.includes(key)));

const isEmpty = (context: FreeObject | undefined): boolean => Object.keys(context ?? {}).length === 0;
