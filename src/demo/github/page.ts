import type { Answer, ApiCall } from './exchange.ts';

/** One page of a list with the header that leads on, as GitHub pages: `page`, `per_page` of at most 100. */
export function paged(
  call: Pick<ApiCall, 'query' | 'path'>,
  base: string,
  items: readonly unknown[],
  body: (page: unknown[]) => unknown = (page) => page,
): Answer {
  const { page, perPage } = pageOf(call.query);
  const last = Math.max(1, Math.ceil(items.length / perPage));
  const to = (number: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(number));
    return `<${base}${call.path}?${query.toString()}>; rel="${rel}"`;
  };
  const links = [
    ...(page > 1 ? [to(page - 1, 'prev'), to(1, 'first')] : []),
    ...(page < last ? [to(page + 1, 'next'), to(last, 'last')] : []),
  ];
  return {
    status: 200,
    body: body(items.slice((page - 1) * perPage, page * perPage)),
    ...(links.length > 0 ? { headers: { link: links.join(', ') } } : {}),
  };
}

/** The requested page; GitHub's default if it is not a number. */
export function pageOf(query: URLSearchParams): { page: number; perPage: number } {
  const number = (name: string, usual: number): number => {
    const read = Number(query.get(name) ?? usual);
    return Number.isInteger(read) && read > 0 ? read : usual;
  };
  return { page: number('page', 1), perPage: Math.min(100, number('per_page', 30)) };
}
