import type { ButtonHTMLAttributes } from 'preact';
import { announce } from './toasts.tsx';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  /** `icon` has no frame; its `label` names it. */
  kind?: 'primary' | 'danger' | 'icon' | undefined;
  /** What it does, where its text says too little. */
  label?: string;
};

/** A button, which submits a form only where its `type` says so. */
export const Button = ({ kind, label, ...attributes }: ButtonProps) => (
  <button
    type="button"
    class={kind === undefined ? 'button' : kind === 'icon' ? 'icon-button' : `button button-${kind}`}
    {...(label === undefined ? {} : { 'aria-label': label })}
    {...attributes}
  />
);

/** Copies a text to the clipboard. `label` says what: "Copy the address". */
export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <Button kind="icon" label={label} title={label} onClick={() => void copyText(text)}>
      <svg
        width="16"
        height="16"
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        aria-hidden="true"
      >
        <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
        <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
      </svg>
    </Button>
  );
}

/** Copies a text to the clipboard, and announces that. */
export async function copyText(text: string, done = 'Copied.'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(done);
  } catch {
    announce('The browser did not allow copying. Select the text and copy it yourself.', 'failed');
  }
}
