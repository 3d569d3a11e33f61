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

interface WhenLoadedProps<T> {
  loaded: { data: T | undefined; error: Error | undefined; reload: () => unknown };
  /** What is loaded: `the keys`. */
  what: string;
  children: (data: T) => ComponentChildren;
}

/** What was loaded, with what there is to say while it loads or where that fails. */
export function WhenLoaded<T>({ loaded: { data, error, reload }, what, children }: WhenLoadedProps<T>) {
  return (
    <>
      {error && <ErrorNotice error={error} retry={reload} />}
      {data === undefined ? !error && <Loading what={what} /> : children(data)}
    </>
  );
}
