/** Requests that the server makes to itself. */
const calls = new WeakSet<Request>();

/** Says of a request that it is the server's own: what is switched off is switched off for others. */
export function asOwnCall(request: Request): Request {
  calls.add(request);
  return request;
}

/** Whether a request is the server's own, as `asOwnCall` has said of it. */
export const isOwnCall = (request: Request): boolean => calls.has(request);
