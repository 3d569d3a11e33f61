/** Changes from light to dark and back. The console uses the same key. */
export function chooseNextTheme(): void {
  const { dataset } = document.documentElement;
  const shown = dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const chosen = shown === 'dark' ? 'light' : 'dark';
  dataset['theme'] = chosen;
  localStorage.setItem('landfall-theme', chosen);
}
