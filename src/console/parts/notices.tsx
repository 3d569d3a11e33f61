import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';

/** Says that something is being loaded. */
export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}

/** An error for people, with a button to try again. */
export function ErrorNotice({ error, retry }: { error: Error; retry?: (() => unknown) | undefined }) {
  return (
    <div class="notice notice-error" role="alert">
      <p>{error.message}</p>
      {retry && <Button onClick={() => void retry()}>Try again</Button>}
    </div>
  );
}

/** A list without entries: what would be here, and how it comes here. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
