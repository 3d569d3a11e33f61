import type { ButtonHTMLAttributes } from 'preact';

type ButtonProps = ButtonHTMLAttributes & {
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
