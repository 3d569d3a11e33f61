import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import type { FieldProblem } from '../../contract/service-error.ts';

/**
 * Refuses a request because of the caller, the agent's authorization rules or a temporary state. The error handler
 * turns it into a response in the one shape `{"detail": ...}`.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly detail: string | FieldProblem[];
  readonly headers: Headers;

  /** @param status an HTTP status from 400 on. */
  constructor(status: number, detail: string | FieldProblem[], headers = new Headers()) {
    super(typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
    this.name = 'Refusal';
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }

  toResponse(): Response {
    const headers = new Headers(this.headers);
    headers.set('content-type', 'application/json');
    return new Response(JSON.stringify({ detail: this.detail }), { status: this.status, headers });
  }
}

/** Refuses new runs because this process shuts down: another one accepts them. */
export class ShuttingDown extends Refusal {
  constructor() {
    super(503, 'The server is shutting down and accepts no new runs. Retry in a moment.');
  }
}

export const missing = (what: string): Refusal => new Refusal(404, what);

// Clients look for the public servers' words, which start these messages.

/**
 * A missing assistant, named by a uuid or a graph's id.
 *
 * @param graphs the ids of all graphs; absent where callers see only some assistants: a hidden one must look like a missing one.
 */
export function noAssistant(idOrGraph: string, graphs: readonly string[] = []): Refusal {
  const known = graphs.length > 0 ? ` (${graphs.map((id) => `"${id}"`).join(', ')})` : '';
  const meant = didYouMean(idOrGraph, graphs);
  return missing(
    `Assistant not found. No assistant found for "${idOrGraph}": pass a graph id of this deployment${known} or an assistant's uuid.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
  );
}

/** A missing version of an assistant. */
export const noVersion = (assistantId: string, version: number): Refusal =>
  missing(`Assistant version not found. Assistant ${assistantId} has no version ${version}: list its versions.`);

export const noThread = (id: string): Refusal =>
  missing(`Thread not found. There is no thread with ID ${id}: create it first, or check the id.`);

/** A missing run, or one of another thread. */
export const noRun = (id: string, threadId?: string): Refusal => {
  const place = threadId === undefined ? '' : ` on thread ${threadId}`;
  return missing(
    `Run not found. There is no run ${id}${place}: check the id; stateless runs are deleted at their end.`,
  );
};

export const noCron = (id: string): Refusal =>
  missing(`Cron not found. There is no cron ${id}: check the id, or search for crons.`);

/** The graph of an assistant or a thread, which this revision lacks. @param owner such as `Thread 1`. */
export const noGraph = (graphId: string, owner: string): Refusal =>
  missing(`Graph "${graphId}" not found. ${owner} is of this graph: deploy a revision that has it, or use another.`);

/** An assistant or a thread whose id is taken. */
export const alreadyExists = (kind: 'Assistant' | 'Thread', id: string): Refusal =>
  new Refusal(409, `${kind} already exists. Choose another id than ${id}, or send "if_exists": "do_nothing".`);

/** An invalid part of the request, such as `['query', 'namespace']`. */
export const invalidAt = (loc: FieldProblem['loc'], msg: string): Refusal =>
  new Refusal(422, [{ loc, msg, type: 'value_error' }]);

/** An invalid field of the body. */
export const unacceptable = (field: string, msg: string): Refusal => invalidAt(['body', field], msg);
