// uPlot reads the language of the browser as it is loaded, and fails where that is no valid tag: `en-US@posix`.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}
