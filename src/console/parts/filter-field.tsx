import { useState } from 'preact/hooks';
import { Select, type Choice } from './field.tsx';

interface FilterFieldProps {
  label: string;
  type?: 'search' | 'datetime-local';
  value: string;
  problem?: string | undefined;
  /** An example of what to type into a search. */
  placeholder?: string;
  onChange: (value: string) => void;
}

/** A filter that is typed. It works with Enter, or when the field is left. */
export function FilterField({ label, type = 'search', value, problem, placeholder, onChange }: FilterFieldProps) {
  // What is being typed must outlive the renders in between: the list is loaded again meanwhile.
  const [draft, setDraft] = useState<string>();
  const attributes = {
    value: draft ?? value,
    'aria-invalid': problem !== undefined,
    onInput: (event: { currentTarget: { value: string } }) => setDraft(event.currentTarget.value),
    onChange: (event: { currentTarget: { value: string } }) => {
      setDraft(undefined);
      onChange(event.currentTarget.value);
    },
  };
  return (
    <label>
      {label}
      {type === 'search' ? (
        <input type="search" maxLength={500} placeholder={placeholder} {...attributes} />
      ) : (
        <input type="datetime-local" {...attributes} />
      )}
      {problem !== undefined && (
        <span class="field-error" role="alert">
          {problem}
        </span>
      )}
    </label>
  );
}

interface FilterSelectProps {
  label: string;
  value: string;
  options: readonly Choice[];
  onChange: (value: string) => void;
}

/** A filter that is chosen from a list. */
export const FilterSelect = ({ label, ...props }: FilterSelectProps) => (
  <label>
    {label}
    <Select {...props} />
  </label>
);
