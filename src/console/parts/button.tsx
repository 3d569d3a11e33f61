import type { ButtonHTMLAttributes } from 'preact';

type ButtonProps = ButtonHTMLAttributes & {
  /** `icon` has no frame and no text, so it needs a `label`. */
  kind?: 'primary' | 'danger' | 'icon' | undefined;
  /** The accessible name, if the text alone is not clear. */
  label?: string;
};

/** A button. It does not submit a form unless its `type` is `submit`. */
export const Button = ({ kind, label, ...attributes }: ButtonProps) => (
  <button
    type="button"
    class={kind === undefined ? 'button' : kind === 'icon' ? 'icon-button' : `button button-${kind}`}
    {...(label === undefined ? {} : { 'aria-label': label })}
    {...attributes}
  />
);
