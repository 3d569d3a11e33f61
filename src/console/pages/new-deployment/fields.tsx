import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { deploymentTypes } from '../../../contract/control/source.ts';
import { Hint, LinesField, SelectField, TextField, type Choice, SecretValue } from '../../parts/field.tsx';
import { isOn, type FormField, readSecretLines, type Draft, type Problems } from './request.ts';
import { secretsText } from '../../parts/deployment-fields.ts';
import { Button } from '../../parts/button.tsx';

interface FieldInputProps {
  field: FormField;
  value: string;
  problem: string | undefined;
  /** The values to choose from; a text field accepts other values too. */
  options?: readonly Choice[] | undefined;
  onChange: (value: string) => void;
}

/** The input of a form field, depending on its kind. */
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

/** The rarely needed fields, folded unless one of them has a problem. */
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

type Secrets = Draft['secrets'];

interface SecretsProps {
  secrets: Secrets;
  problems: Problems;
  onChange: (secrets: Secrets) => void;
}

/** The environment variables of the agent, each with a name and a value. */
export function SecretFields({ secrets, problems, onChange }: SecretsProps) {
  const change = (index: number, changed: Partial<Secrets[number]>): void =>
    onChange(secrets.map((each, at) => (at === index ? { ...each, ...changed } : each)));
  const paste = (index: number, event: ClipboardEvent): void => {
    const pasted = readSecretLines(event.clipboardData?.getData('text') ?? '');
    if (!pasted) return;
    event.preventDefault();
    onChange([...secrets.slice(0, index), ...pasted, ...secrets.slice(index + 1)]);
  };
  return (
    <section class="panel">
      <h2>{secretsText.label}</h2>
      <p class="field-hint">{secretsText.hint} You can paste the lines of a .env file into a name.</p>
      {secrets.map(({ name, value }, index) => (
        <div key={index} class="new-deployment-secret">
          <TextField
            label={`Name of secret ${index + 1}`}
            problem={problems[`secrets.${index}.name`]}
            class="mono"
            value={name}
            spellcheck={false}
            onPaste={(event) => paste(index, event)}
            onInput={(typed) => change(index, { name: typed })}
          />
          <SecretValue
            label={`Value of secret ${index + 1}`}
            problem={problems[`secrets.${index}.value`]}
            value={value}
            onInput={(typed) => change(index, { value: typed })}
          />
          <Button
            label={`Remove secret ${index + 1}`}
            onClick={() => onChange(secrets.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...secrets, { name: '', value: '' }])}>Add a secret</Button>
    </section>
  );
}
