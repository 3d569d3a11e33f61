import { Field } from './field.tsx';

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
