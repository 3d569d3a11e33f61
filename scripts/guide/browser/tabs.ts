const storageKey = 'landfall-example-language';

/** Shows one example of each group at a time, in the language that was chosen last, on any page. */
export function makeTabs(): void {
  const groups = [...document.querySelectorAll('.examples')].map(makeGroup);
  const choose = (name: string): void => groups.forEach((show) => show(name));
  addEventListener('landfall-example', (event) => {
    if (!(event instanceof CustomEvent)) return;
    const name = String(event.detail);
    localStorage.setItem(storageKey, name);
    choose(name);
  });
  choose(localStorage.getItem(storageKey) ?? 'curl');
}

/** @returns the function that shows the example with this name, or the first one. */
function makeGroup(group: Element): (name: string) => void {
  const sections = [...group.querySelectorAll<HTMLElement>('section')];
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  const tabs = sections.map((section) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.setAttribute('role', 'tab');
    tab.textContent = section.dataset['name'] ?? '';
    tab.addEventListener('click', () =>
      dispatchEvent(new CustomEvent('landfall-example', { detail: tab.textContent })),
    );
    section.setAttribute('role', 'tabpanel');
    section.setAttribute('aria-label', tab.textContent);
    return tab;
  });
  list.append(...tabs);
  list.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const next = tabs.at((at + step) % tabs.length);
    if (step === 0 || !next) return;
    next.click();
    next.focus();
  });
  group.prepend(list);
  group.classList.add('tabs');
  return (name) => {
    const known = sections.some((section) => section.dataset['name'] === name) ? name : sections[0]?.dataset['name'];
    sections.forEach((section, at) => {
      const isShown = section.dataset['name'] === known;
      section.hidden = !isShown;
      tabs[at]?.setAttribute('aria-selected', String(isShown));
      tabs[at]?.setAttribute('tabindex', isShown ? '0' : '-1');
    });
  };
}
