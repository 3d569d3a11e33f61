import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';

/** Asks before the page is left while it uploads: the upload would stop. */
export function LeavingGuard({ isBusy }: { isBusy: boolean }) {
  const { route } = useLocation();
  const [target, setTarget] = useState<string>();
  useEffect(() => {
    if (!isBusy) return undefined;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    const hold = (event: MouseEvent): void => {
      const path = pathAway(event);
      if (path === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      setTarget(path);
    };
    addEventListener('beforeunload', warn);
    // Before the router sees the click.
    addEventListener('click', hold, { capture: true });
    return () => {
      removeEventListener('beforeunload', warn);
      removeEventListener('click', hold, { capture: true });
      setTarget(undefined);
    };
  }, [isBusy]);
  if (target === undefined) return null;
  return (
    <ConfirmDialog
      title="Leave before the upload has ended?"
      action="Leave"
      isDangerous
      onConfirm={async () => route(target)}
      onClose={() => setTarget(undefined)}
    >
      <p>The upload stops, and nothing of it is deployed. You can upload again from the page of the deployment.</p>
    </ConfirmDialog>
  );
}

/** Where a click leads in this tab; undefined for one that leaves the page as it is, or that the browser warns of. */
function pathAway({ target, button, ctrlKey, metaKey, altKey, shiftKey }: MouseEvent): string | undefined {
  if (button !== 0 || ctrlKey || metaKey || altKey || shiftKey) return undefined;
  const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
  if (!link || link.target !== '' || link.origin !== location.origin) return undefined;
  return link.getAttribute('href')?.startsWith('#') === true ? undefined : link.pathname + link.search;
}
