import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../kit/errors.ts';
import { FormDialog } from './dialog.tsx';
import { announce, useIsUnmounted } from './toasts.tsx';

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
