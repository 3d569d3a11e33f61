import { announce } from './toasts.tsx';

/** Copies a text to the clipboard, and announces that. */
export async function copyText(text: string, done = 'Copied.'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(done);
  } catch {
    announce('The browser did not allow copying. Select the text and copy it yourself.', 'failed');
  }
}
