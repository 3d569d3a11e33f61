import { createFinder } from './finder.ts';
import { makeTabs } from './tabs.ts';
import { chooseNextTheme } from './theme-choice.ts';

const byId = (id: string): HTMLElement | null => document.getElementById(id);

const menu = byId('menu');
menu?.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu');
  menu.setAttribute('aria-expanded', String(isOpen));
});

byId('theme')?.addEventListener('click', chooseNextTheme);

const openFinder = createFinder();
byId('search')?.addEventListener('click', openFinder);
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  const isShortcut = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping);
  if (!isShortcut) return;
  event.preventDefault();
  openFinder();
});

makeTabs();

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '');
    button.textContent = 'Copied';
  };
  button.addEventListener('click', () => void copy());
  block.append(button);
}

// The navigation is longer than the screen: it starts at the page that is shown.
document.querySelector('#navigation [aria-current]')?.scrollIntoView({ block: 'center' });

const outline = new Map(
  [...document.querySelectorAll<HTMLAnchorElement>('aside a')].map((link) => [link.hash.slice(1), link]),
);
const passed = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      for (const [id, link] of outline) link.toggleAttribute('data-current', id === target.id);
    }
  },
  { rootMargin: '-64px 0px -70% 0px' },
);
for (const id of outline.keys()) {
  const heading = byId(id);
  if (heading) passed.observe(heading);
}
