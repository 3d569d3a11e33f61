/** A refusal by the agent's authorization rules, which the error handler turns into a response. */
export class AuthRefusal extends Error {
  readonly status: number;
  readonly headers: Headers;

  constructor(status: number, message: string, headers = new Headers()) {
    super(message);
    this.name = 'AuthRefusal';
    this.status = status;
    this.headers = headers;
  }

  /** The response, in the shape of every error. */
  toResponse(): Response {
    const headers = new Headers(this.headers);
    headers.set('content-type', 'application/json');
    return new Response(JSON.stringify({ detail: this.message }), { status: this.status, headers });
  }
}

/**
 * Recognizes a refusal of the agent's code: an error with a status, such as the SDK's `HTTPException`. Returns undefined
 * for every other error.
 */
export function refusalIn(error: unknown): AuthRefusal | undefined {
  if (!(error instanceof Error)) return undefined;
  const status: unknown = Reflect.get(error, 'status');
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 400 || status > 599) return undefined;
  return new AuthRefusal(status, error.message, headersIn(Reflect.get(error, 'headers')));
}

function headersIn(value: unknown): Headers {
  if (value instanceof Headers) return value;
  const entries = Array.isArray(value)
    ? value
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
      : [];
  const headers = new Headers();
  for (const entry of entries) {
    const [name, text]: unknown[] = Array.isArray(entry) ? entry : [];
    if (typeof name === 'string' && typeof text === 'string') headers.append(name, text);
  }
  return headers;
}
