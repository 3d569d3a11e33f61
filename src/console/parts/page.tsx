import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { shownText } from './untrusted.tsx';
import { paths } from '../paths.ts';

interface PageProps {
  title: string;
  /** Precedes the title in the browser's tab, if several pages have the same title. */
  part?: string | undefined;
  /** Beside the title: buttons, a badge. */
  actions?: ComponentChildren;
  /** Below the title. */
  summary?: ComponentChildren;
  children: ComponentChildren;
}

/** A page: its title in the tab and as its heading, and its content. */
export function Page({ title, part, actions, summary, children }: PageProps) {
  const shownTitle = shownText(title);
  useEffect(() => {
    document.title = `${part === undefined ? '' : `${part} · `}${shownTitle} · Landfall`;
  }, [shownTitle, part]);
  return (
    <main id="content" class="page" tabIndex={-1}>
      <header class="row row-split page-header">
        <div>
          <h1>
            <bdi>{shownTitle}</bdi>
          </h1>
          {summary}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        Check the address, or go to the <a href={paths.home}>deployments</a>.
      </p>
    </Page>
  );
}
