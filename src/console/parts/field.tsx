import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  /** The rule of the field. */
  hint?: ComponentChildren;
  /** What is wrong with its value. */
  problem?: string | undefined;
  /** Renders the control with the attributes that connect it to its label, hint and problem. */
  children: (attributes: FieldAttributes) => JSX.Element;
}

export interface FieldAttributes {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A form field: its label, its rule beside it, and its problem. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described.filter(Boolean).join(' ') || undefined,
        'aria-invalid': problem !== undefined,
      })}
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="field-error" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** A rule in words, with what is between backticks as code. */
export function Hint({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

interface JsonFieldProps {
  label: string;
  hint?: ComponentChildren;
  problem: string | undefined;
  value: string;
  rows?: number;
  onInput: (text: string) => void;
}

/** A field for JSON, with its problem. */
export function JsonField({ label, hint, problem, value, rows = 5, onInput }: JsonFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <textarea
          {...attributes}
          class="mono"
          rows={rows}
          spellcheck={false}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

interface SecretValueProps {
  label: string;
  value: string;
  problem?: string | undefined;
  onInput: (value: string) => void;
}

/** A value as it is typed: hidden, and with its line breaks, which a password field would drop from a pasted key. */
export function SecretValue({ label, value, problem, onInput }: SecretValueProps) {
  return (
    <Field label={label} problem={problem}>
      {(attributes) => (
        <textarea
          {...attributes}
          class="secret-value mono"
          rows={1}
          value={value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
