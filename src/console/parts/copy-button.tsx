import { Button } from './button.tsx';
import { announce } from './toasts.tsx';

/** Copies a text to the clipboard. `label` describes it: "Copy the address". */
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
