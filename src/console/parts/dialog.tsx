import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../errors.ts';
import { announce } from './toasts.tsx';
import { useHasLeft } from './use-has-left.ts';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A modal dialog: Escape and the close button end it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby={titleId} onClose={onClose}>
      <header class="dialog-header">
        <h2 id={titleId}>{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      {children}
    </dialog>
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

/** Asks before something happens, and says what. */
export function ConfirmDialog({ title, children, action, isDangerous, typed, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const hasLeft = useHasLeft();
  const confirm = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await onConfirm();
      if (!hasLeft()) onClose();
    } catch (error) {
      // Somebody who has closed the dialog meanwhile would take it for done.
      if (hasLeft()) announce(`${action}: ${messageOf(error)}`, 'failed');
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void confirm(event)}>
        {children}
        {typed !== undefined && (
          <label class="field">
            <span class="field-label">
              Type <code>{typed}</code> to go on
            </span>
            <input value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        )}
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
            disabled={isBusy || (typed !== undefined && text !== typed)}
          >
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
