// Import first: the settings apply to schemas that the other modules define.
import '../contract/interpret-schemas.ts';
import { render } from 'preact';
import { App } from './app.tsx';
import { restoreSession } from './api/session.ts';
import { keepFocus } from './parts/keep-focus.ts';
import { applyTheme } from './parts/theme.ts';

applyTheme();
keepFocus();
await restoreSession();
const root = document.getElementById('app');
if (root) render(<App />, root);
