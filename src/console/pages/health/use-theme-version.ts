import { useEffect, useState } from 'preact/hooks';
import { theme } from '../../parts/theme.ts';

/** A text that changes with the colours of the page. */
export function useThemeVersion(): string {
  const [isDark, setDark] = useState(() => darkScheme().matches);
  useEffect(() => {
    const scheme = darkScheme();
    const changed = (): void => setDark(scheme.matches);
    scheme.addEventListener('change', changed);
    return () => scheme.removeEventListener('change', changed);
  }, []);
  return `${theme.value} ${isDark}`;
}

const darkScheme = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');
