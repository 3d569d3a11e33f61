import { errorShape, type WorkerErrorShape } from './headers.ts';

/** An error of the agent's code, as its worker tells it. */
export class WorkerError extends Error {
  readonly type: string;
  /** What the worker's own code says is wrong; undefined for errors of the agent. */
  readonly code: string | undefined;
  readonly traceback: string | undefined;

  /** The response of a provider, where the error has one. */
  readonly status: number | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor({ type, message, stack, code, status, headers, cause }: WorkerErrorShape) {
    super(message, cause === undefined ? {} : { cause: new WorkerError(cause) });
    this.name = type;
    this.type = type;
    this.status = status;
    this.headers = headers;
    this.traceback = stack;
    // What logs and pages show of an error: what it is, and where the agent raised it, never a place of this server.
    this.stack = `${type}: ${message}${stack === undefined ? '' : `\nTraceback (most recent call last):\n${stack}`}`;
    this.code = code;
  }
}

/** An error that is told beside an answer; undefined if there is none. */
export const describedError = (told: unknown): WorkerError | undefined =>
  told == null ? undefined : new WorkerError(errorShape.parse(told));
