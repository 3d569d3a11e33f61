import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { shownText } from './untrusted.tsx';

interface PageProps {
  title: string;
  /** Beside the title: buttons, a badge. */
  actions?: ComponentChildren;
  /** Below the title. */
  summary?: ComponentChildren;
  children: ComponentChildren;
}

/** A page: its title in the tab and as its heading, and its content. */
export function Page({ title, actions, summary, children }: PageProps) {
  const shown = shownText(title);
  useEffect(() => {
    document.title = `${shown} · Landfall`;
  }, [shown]);
  return (
    <main id="content" class="page" tabIndex={-1}>
      <header class="page-header">
        <div>
          <h1>
            <bdi>{shown}</bdi>
          </h1>
          {summary}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </main>
  );
}
