// First: it concerns every schema that the others define.
import './api/zod-settings.ts';
import { render } from 'preact';
import { App } from './app.tsx';
import { restoreSession } from './api/session.ts';
import { applyTheme } from './parts/theme.ts';

applyTheme();
await restoreSession();
const root = document.getElementById('app');
if (root) render(<App />, root);
