import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { ApiError } from '../api/http.ts';
import type { LoadedList } from '../api/use-list.ts';
import { paths } from '../paths.ts';

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
    <div class="notice row row-split tone-bad" role="alert">
      <p>{error.message}</p>
      {retry && <Button onClick={() => void retry()}>Try again</Button>}
    </div>
  );
}

/** Shown for an empty list: explains what would be here and how to get it. */
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
  /** The name of the data: `the keys`. */
  what: string;
  children: (data: T) => ComponentChildren;
}

/** Shows loaded data, or a message while it loads or if that fails. */
export function WhenLoaded<T>({ loaded: { data, error, reload }, what, children }: WhenLoadedProps<T>) {
  return (
    <>
      {error && <ErrorNotice error={error} retry={reload} />}
      {data === undefined ? !error && <Loading what={what} /> : children(data)}
    </>
  );
}

interface ListProps<Entry> {
  list: LoadedList<Entry>;
  /** The name of the entries: `the runs`. */
  what: string;
  /** Set for lists of an agent, whose errors link to the revisions. */
  deploymentId?: string;
  empty: ComponentChildren;
  children: (entries: readonly Entry[]) => ComponentChildren;
}

/** Shows a list, or a message while it loads, if it fails or is empty, and a button to load more. */
export function List<Entry>({ list, what, deploymentId, empty, children }: ListProps<Entry>) {
  const { entries, error, hasMore, isBusy, loadMore, reload } = list;
  return (
    <>
      {error && <AgentError error={error} deploymentId={deploymentId} retry={reload} />}
      {!entries && !error && <Loading what={what} />}
      {entries?.length === 0 && empty}
      {entries && entries.length > 0 && children(entries)}
      {hasMore && (
        <p class="list-more">
          <Button aria-disabled={isBusy} onClick={() => void loadMore()}>
            {isBusy ? 'Loading …' : 'Load more'}
          </Button>
        </p>
      )}
    </>
  );
}

interface AgentErrorProps {
  error: Error;
  deploymentId: string | undefined;
  retry?: (() => unknown) | undefined;
}

/** An error of an agent, with advice if the agent does not run. */
export function AgentError({ error, deploymentId, retry }: AgentErrorProps) {
  if (deploymentId === undefined || !(error instanceof ApiError) || ![502, 503, 504].includes(error.status)) {
    return <ErrorNotice error={error} retry={retry} />;
  }
  return (
    <div class="notice row row-split tone-bad" role="alert">
      <div>
        <p>
          <strong>The agent does not respond at the moment.</strong>
        </p>
        <p>{error.message}</p>
        <p>
          This page tries again by itself. <a href={paths.deployment(deploymentId)}>Open the revisions</a> to see
          whether one is live.
        </p>
      </div>
      {retry && <Button onClick={() => void retry()}>Try again</Button>}
    </div>
  );
}
