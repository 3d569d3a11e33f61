import { useLocation } from 'preact-iso';

type Query = Readonly<Record<string, string | undefined>>;

/** The query of the page's address, and a function that changes some of it; an empty value leaves the address. */
export function useAddressQuery(): [query: Query, change: (changes: Query) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: Query): void => {
    const entries = Object.entries({ ...query, ...changes }).flatMap(([name, value]) => (value ? [[name, value]] : []));
    const text = new URLSearchParams(entries).toString();
    route(text === '' ? path : `${path}?${text}`, true);
  };
  return [query, change];
}
