/** Requests from the server to itself. */
const calls = new WeakSet<Request>();

/** Marks a request as internal: disabled routes still serve it. */
export function asOwnCall(request: Request): Request {
  calls.add(request);
  return request;
}

/** Whether `asOwnCall` marked the request. */
export const isOwnCall = (request: Request): boolean => calls.has(request);
