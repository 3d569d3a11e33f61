/**
 * Serves the routes below a prefix and also without it: the supervisor does not know the prefix.
 *
 * @param prefix such as `/api`.
 */
export function belowPrefix<R>(
  fetch: (request: Request) => R | Promise<R>,
  prefix: string | undefined,
): (request: Request) => R | Promise<R> {
  const bare = prefix?.replace(/\/$/, '');
  if (bare === undefined || bare === '') return fetch;
  return (request) => {
    const url = new URL(request.url);
    if (url.pathname !== bare && !url.pathname.startsWith(`${bare}/`)) return fetch(request);
    url.pathname = url.pathname.slice(bare.length);
    return fetch(new Request(url, request));
  };
}
