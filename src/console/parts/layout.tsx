import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { messageOf } from '../../kit/errors.ts';
import { chooseTenant, signOut } from '../api/session.ts';
import { session } from '../api/session-state.ts';
import { paths } from '../paths.ts';
import { chooseTheme, theme } from './theme.ts';
import { announce } from './toasts.tsx';
import { Button } from './button.tsx';
import { Select } from './field.tsx';

const reportFailure = (error: unknown): void => announce(messageOf(error), 'failed');

/** The frame of every page: navigation, workspace, theme, and sign-out. */
export function Layout({ children }: { children: ComponentChildren }) {
  const { path } = useLocation();
  const tenants = session.value?.tenants ?? [];
  const inWorkspace = path.startsWith(paths.workspace(''));
  return (
    <>
      <a class="skip" href="#content" onClick={focusContent}>
        Skip to the content
      </a>
      <header class="row top">
        <a class="brand" href={paths.home}>
          <img src="icon.svg" alt="" width="24" height="24" />
          <span class="brand-name">Landfall</span>
        </a>
        <nav aria-label="Main" class="line top-nav">
          <a href={paths.home} data-name="Deployments" aria-current={inWorkspace ? undefined : 'page'}>
            Deployments
          </a>
          <a href={paths.workspace('keys')} data-name="Workspace" aria-current={inWorkspace ? 'page' : undefined}>
            Workspace
          </a>
        </nav>
        <div class="row tight end top-right">
          {tenants.length > 1 && (
            <Select
              aria-label="Workspace"
              value={session.value?.tenant_id}
              options={tenants.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={(id) => void chooseTenant(id).catch(reportFailure)}
            />
          )}
          <Select
            aria-label="Theme"
            value={theme.value}
            options={[
              { value: 'system', label: 'System theme' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
            onChange={chooseTheme}
          />
          <Button onClick={() => void signOut().catch(reportFailure)}>Sign out</Button>
        </div>
      </header>
      {children}
    </>
  );
}

function focusContent(event: MouseEvent): void {
  // Keep the address, which identifies the page.
  event.preventDefault();
  document.getElementById('content')?.focus();
}
