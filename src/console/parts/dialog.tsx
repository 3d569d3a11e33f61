import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useIsUnmounted } from './toasts.tsx';
import { Button } from './button.tsx';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog: Escape and the close button end it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isUnmounted = useIsUnmounted();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // The event of a dialog that was removed comes late, and would close the next one.
    <dialog ref={element} class="dialog" aria-labelledby={titleId} onClose={() => isUnmounted() || onClose()}>
      <header class="dialog-header">
        <h2 id={titleId}>{title}</h2>
        <Button kind="icon" label="Close" onClick={onClose}>
          ×
        </Button>
      </header>
      {children}
    </dialog>
  );
}

interface FormDialogProps {
  title: string;
  /** The word on the button. */
  action: string;
  isBusy: boolean;
  isDangerous?: boolean | undefined;
  /** Whether the form can be sent; true if absent. */
  isReady?: boolean;
  /** What is wrong with the whole form. */
  problem: string | undefined;
  onSubmit: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** A form in a dialog. */
export function FormDialog({
  title,
  action,
  isBusy,
  isDangerous = false,
  isReady = true,
  problem,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy && isReady) onSubmit();
        }}
      >
        {children}
        {problem !== undefined && (
          <p class="field-error" role="alert">
            {problem}
          </p>
        )}
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} disabled={isBusy || !isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
