// uPlot reads the browser's language when it is loaded, and throws if that is not a valid tag: `en-US@posix`.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
