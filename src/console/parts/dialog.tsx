import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { useForm } from '../api/use-form.ts';
import { announce, useIsUnmounted } from './toasts.tsx';
import { Button } from './button.tsx';
import { Problem } from './field.tsx';

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
    // The event of a removed dialog comes late, and would close the next one.
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
  /** The text of the button. */
  action: string;
  isBusy: boolean;
  isDangerous?: boolean | undefined;
  /** Whether the form can be sent; true by default. */
  isReady?: boolean;
  /** The problem of the whole form. */
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

interface ConfirmProps extends Pick<FormDialogProps, 'title' | 'children' | 'action' | 'isDangerous' | 'onClose'> {
  /** The text that has to be typed to confirm. */
  typed?: string;
  /** Runs on confirmation. The dialog closes when it resolves, and shows a rejection. */
  onConfirm: () => Promise<unknown>;
  /** The announcement after success. */
  done?: string;
  /** Runs after success, before the dialog closes. */
  onDone?: () => unknown;
}

/** Confirms an action before it happens. */
export function ConfirmDialog({ typed: expected, onConfirm, done, onDone, children, ...dialog }: ConfirmProps) {
  const { status, values, submit, typed } = useForm({ text: '' });
  const isUnmounted = useIsUnmounted();
  const confirm = async (): Promise<void> => {
    const isDone = await submit(async () => {
      await onConfirm();
      if (done !== undefined) announce(done);
      await onDone?.();
    });
    if (isDone && !isUnmounted()) dialog.onClose();
  };
  return (
    <FormDialog
      {...dialog}
      {...status}
      isReady={expected === undefined || values.text === expected}
      onSubmit={() => void confirm()}
    >
      {children}
      {expected !== undefined && (
        <label class="field">
          <span class="field-label">
            Type <code>{expected}</code> to confirm
          </span>
          <input
            value={values.text}
            autocomplete="off"
            onInput={(event) => typed('text').onInput(event.currentTarget.value)}
          />
        </label>
      )}
    </FormDialog>
  );
}
