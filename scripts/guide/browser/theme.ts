// Runs before the page is drawn, so that it never flashes in the other theme. The console uses the same key.
const stored = localStorage.getItem('landfall-theme');
if (stored === 'light' || stored === 'dark') document.documentElement.dataset['theme'] = stored;
