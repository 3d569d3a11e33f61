import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useIsUnmounted, announce } from './toasts.tsx';
import { Button } from './button.tsx';
import { Problem } from './field.tsx';
import { messageOf } from '../../kit/errors.ts';

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
      <header class="row row-split head">
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
        <Problem text={problem} />
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

interface ConfirmProps {
  title: string;
  /** What will happen. */
  children: ComponentChildren;
  /** The word on the button. */
  action: string;
  isDangerous?: boolean;
  /** What has to be typed first. */
  typed?: string;
  /** Closes the dialog when it resolves; a rejection is shown. */
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Confirms an action before it happens. */
export function ConfirmDialog({ title, children, action, isDangerous, typed, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isUnmounted = useIsUnmounted();
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      if (!isUnmounted()) onClose();
    } catch (error) {
      // A user who has closed the dialog would otherwise think that the action succeeded.
      if (isUnmounted()) announce(`${action}: ${messageOf(error)}`, 'failed');
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={title}
      action={action}
      isBusy={isBusy}
      isDangerous={isDangerous}
      isReady={typed === undefined || text === typed}
      problem={problem}
      onSubmit={() => void confirm()}
      onClose={onClose}
    >
      {children}
      {typed !== undefined && (
        <label class="field">
          <span class="field-label">
            Type <code>{typed}</code> to confirm
          </span>
          <input value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
    </FormDialog>
  );
}
