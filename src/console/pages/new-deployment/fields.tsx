import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { deploymentTypes } from '../../../contract/control/source.ts';
import { Hint, LinesField, SelectField, TextField, type Choice } from '../../parts/field.tsx';
import { isOn, type FormField } from './request.ts';

interface FieldInputProps {
  field: FormField;
  value: string;
  problem: string | undefined;
  /** What may be chosen; a text may have other values as well. */
  options?: readonly Choice[] | undefined;
  onChange: (value: string) => void;
}

/** A field of the form, by its kind. */
export function FieldInput({ field, value, problem, options, onChange }: FieldInputProps) {
  const { label, hint, kind, placeholder } = field;
  if (kind === 'flag') return <Flag field={field} isChecked={value === isOn} onChange={onChange} />;
  const common = { label, hint, problem, value };
  if (kind === 'choice') return <SelectField {...common} options={options ?? typeChoices} onChange={onChange} />;
  const typed = { ...common, placeholder, spellcheck: false, onInput: onChange };
  if (kind === 'json') return <LinesField {...typed} rows={4} />;
  return <TextField {...typed} autocapitalize="off" options={options} />;
}

const typeChoices: readonly Choice[] = [
  { value: '', label: 'Not set' },
  ...deploymentTypes.map((value) => ({ value, label: value })),
];

interface FlagProps {
  field: FormField;
  isChecked: boolean;
  onChange: (value: string) => void;
}

function Flag({ field: { label, hint }, isChecked, onChange }: FlagProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          checked={isChecked}
          aria-describedby={id}
          onChange={(event) => onChange(event.currentTarget.checked ? isOn : '')}
        />
        <span class="field-label">{label}</span>
      </label>
      <p class="field-hint" id={id}>
        <Hint text={hint} />
      </p>
    </div>
  );
}

/** The fields that are rarely needed, folded until one of them has a problem. */
export function AdvancedFields({ hasProblem, children }: { hasProblem: boolean; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (hasProblem) setOpen(true);
  }, [hasProblem]);
  return (
    <details
      class="new-deployment-advanced"
      open={isOpen || hasProblem}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Advanced settings</summary>
      {children}
    </details>
  );
}
