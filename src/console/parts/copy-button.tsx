import { announce } from './toasts.tsx';

/** Copies a text to the clipboard. `label` says what: "Copy the address". */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => announce('Copied.'),
      () => announce('The browser did not allow copying. Select the text and copy it yourself.', 'failed'),
    );
  };
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={copy}>
      ⧉
    </button>
  );
}
