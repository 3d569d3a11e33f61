import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.tsx';

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
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button ${isDangerous ? 'button-danger' : 'button-primary'}`}
            disabled={isBusy || !isReady}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
