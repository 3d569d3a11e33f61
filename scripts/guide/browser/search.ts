import MiniSearch from 'minisearch';

/** A section of a page, as the search finds it. */
export interface SearchEntry {
  /** The address in the guide, with the anchor. */
  url: string;
  /** The name of the page. */
  page: string;
  title: string;
  text: string;
  /** Whether it is for those who change Landfall: it comes after the others. */
  isBackground?: true;
}

export interface SearchResult extends SearchEntry {
  /** The words around the first match, in parts: those at odd places matched. */
  excerpt: readonly string[];
}

const length = 160;

/** Makes the function that finds sections by words, by their beginnings, and with a mistyped letter. */
export function createSearch(entries: readonly SearchEntry[]): (query: string) => SearchResult[] {
  const byUrl = new Map(entries.map((entry) => [entry.url, entry]));
  const index = new MiniSearch<SearchEntry>({
    idField: 'url',
    fields: ['title', 'page', 'text'],
    searchOptions: {
      boost: { title: 4, page: 2 },
      boostDocument: (url) => (byUrl.get(String(url))?.isBackground ? 0.3 : 1),
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  });
  index.addAll(entries);
  return (query) =>
    index
      .search(query)
      .slice(0, 30)
      .flatMap(({ id, terms }) => {
        const entry = byUrl.get(String(id));
        return entry ? [{ ...entry, excerpt: excerptOf(entry.text, terms) }] : [];
      });
}

function excerptOf(text: string, terms: readonly string[]): string[] {
  const words = new RegExp(`(${terms.map((term) => RegExp.escape(term)).join('|')})`, 'gi');
  const first = text.search(words);
  const start = first < length / 2 ? 0 : text.lastIndexOf(' ', first - 40) + 1;
  const end = start + length;
  const excerpt = `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
  return terms.length === 0 ? [excerpt] : excerpt.split(words);
}
