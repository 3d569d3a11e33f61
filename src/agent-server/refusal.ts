import type { FieldProblem } from '../contract/service-error.ts';

/** The statuses with which the server says no. */
export type RefusalStatus = 400 | 403 | 404 | 405 | 409 | 413 | 422 | 503;

/**
 * A request that the server will not carry out: the caller's mistake, or a bad moment. Thrown where it is noticed and
 * turned into an answer at the door, always in the one shape `{"detail": ...}`.
 */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly detail: string | FieldProblem[];

  constructor(status: RefusalStatus, detail: string | FieldProblem[]) {
    super(typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
    this.name = 'Refusal';
    this.status = status;
    this.detail = detail;
  }
}

export const missing = (what: string): Refusal => new Refusal(404, what);

/** No such assistant, whatever asked for it: what may be passed stands in it. */
export const noAssistant = (idOrGraph: string): Refusal =>
  missing(`No assistant or graph "${idOrGraph}". Pass a graph id of this deployment or an assistant's uuid.`);

/** No such version of an assistant. */
export const noVersion = (assistantId: string, version: number): Refusal =>
  missing(`Assistant ${assistantId} has no version ${version}.`);

/** One field of the body that can't be taken. */
export const unacceptable = (field: string, msg: string): Refusal =>
  new Refusal(422, [{ loc: ['body', field], msg, type: 'value_error' }]);
