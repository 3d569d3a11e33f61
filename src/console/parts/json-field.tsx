import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

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
