import { signal } from '@preact/signals';

const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const storageKey = 'landfall-theme';
const isTheme = (word: string | null): word is Theme => themes.some((theme) => theme === word);
const stored = localStorage.getItem(storageKey);

/** The chosen theme; `system` follows the browser. */
export const theme = signal<Theme>(isTheme(stored) ? stored : 'system');

export function applyTheme(): void {
  if (theme.value === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme.value;
}

export function chooseTheme(chosen: string): void {
  if (!isTheme(chosen)) return;
  theme.value = chosen;
  localStorage.setItem(storageKey, chosen);
  applyTheme();
}
