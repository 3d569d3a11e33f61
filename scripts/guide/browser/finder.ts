import { createSearch, type SearchEntry, type SearchResult } from './search.ts';

const root = document.documentElement.dataset['root'] ?? '.';

let loading: Promise<(query: string) => SearchResult[]> | undefined;

/** The sections are fetched when they are first searched; after a failure, again at the next key. */
function loadSearch(): Promise<(query: string) => SearchResult[]> {
  loading ??= fetch(`${root}/assets/search.json`)
    .then((response) => response.json())
    .then((entries: SearchEntry[]) => createSearch(entries));
  loading.catch(() => (loading = undefined));
  return loading;
}

/** Prepares the search. @returns the function that opens it. */
export function createFinder(): () => void {
  const dialog = document.getElementById('finder');
  const [input, status, list] = ['input', '[role=status]', 'ol'].map((selector) => dialog?.querySelector(selector));
  if (!(dialog instanceof HTMLDialogElement) || !(input instanceof HTMLInputElement) || !status || !list)
    throw new Error('The page has no search.');

  const show = async (): Promise<void> => {
    const query = input.value.trim();
    try {
      const search = await loadSearch();
      if (query !== input.value.trim()) return;
      const results = query === '' ? [] : search(query);
      list.replaceChildren(...results.map(itemOf));
      status.textContent = query !== '' && results.length === 0 ? `Nothing found for “${query}”.` : '';
    } catch {
      status.textContent = 'The search did not load. Check the connection and type again.';
    }
  };
  input.addEventListener('input', () => void show());
  dialog.addEventListener('keydown', (event) => moveFocus(event, input, list));
  // A click beside the dialog is a click on its backdrop, whose target is the dialog itself.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close();
  });
  return () => {
    if (!dialog.open) dialog.showModal();
    input.select();
    void show();
  };
}

function moveFocus(event: KeyboardEvent, input: HTMLInputElement, list: Element): void {
  const links = [...list.querySelectorAll('a')];
  if (event.key === 'Enter' && document.activeElement === input) return links[0]?.click();
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const at = links.findIndex((link) => link === document.activeElement) + step;
  (links[at] ?? input).focus();
}

function itemOf({ url, page, title, excerpt }: SearchResult): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${root}/${url}`;
  const name = document.createElement('strong');
  name.textContent = title;
  const place = document.createElement('small');
  place.textContent = page;
  const words = document.createElement('p');
  words.append(
    ...excerpt.map((part, at) => {
      if (at % 2 === 0) return part;
      const mark = document.createElement('mark');
      mark.textContent = part;
      return mark;
    }),
  );
  link.append(name, place, words);
  item.append(link);
  return item;
}
