import { lazy, useLocation } from 'preact-iso';
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { Page } from './page.tsx';
import { Button } from './button.tsx';

/** A page that is loaded when it is opened; where that fails, a message with a way out. */
export const lazyPage = <Props,>(load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy<ComponentType<Props>>(() =>
    load().catch((reason: unknown) => {
      console.error(reason);
      return { default: isFetchFailure(reason) ? NotLoaded : Failed };
    }),
  );

/** Whether a module could not be fetched, in the words of any browser; else it has a fault. */
const isFetchFailure = (reason: unknown): boolean =>
  reason instanceof TypeError && /\b(fetch|load|import)\w*\b.*\bmodule\b/i.test(reason.message);

/** Browsers keep the failure of a module, so that only loading the whole page again helps. */
const reload = (): void => location.reload();

function NotLoaded() {
  return (
    <Page title="This page could not be loaded">
      <div class="notice notice-error" role="alert">
        <p>The service cannot be reached, or it was updated since you opened the console. Load the console again.</p>
        <Button onClick={reload}>Load again</Button>
      </div>
    </Page>
  );
}

/** Shows a message in the place of a page that fails, until another one is opened. */
export function PageBoundary({ children }: { children: ComponentChildren }) {
  const { url } = useLocation();
  const [error, reset] = useErrorBoundary((reason: unknown) => console.error(reason));
  useEffect(() => {
    if (error !== undefined) reset();
  }, [url]);
  return error === undefined ? children : <Failed />;
}

function Failed() {
  return (
    <Page title="This page has failed">
      <div class="notice notice-error" role="alert">
        <p>The console hit an error. Your saved data is safe. Reload the page.</p>
        <Button onClick={reload}>Load again</Button>
      </div>
    </Page>
  );
}
