import type { ComponentChildren, JSX, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

interface FieldProps {
  label: string;
  /** The hint below the field; may contain code between backticks. */
  hint?: ComponentChildren;
  /** The problem of its value. */
  problem?: string | undefined;
  /** Renders the control with the attributes that connect it to its label, hint and problem. */
  children: (attributes: FieldAttributes) => JSX.Element;
}

export interface FieldAttributes {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean;
}

/** A form field with its label, its hint and its problem. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const descriptionIds = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': descriptionIds.filter(Boolean).join(' ') || undefined,
        'aria-invalid': problem !== undefined,
      })}
      {hint !== undefined && (
        <p class="field-hint" id={`${id}-hint`}>
          {typeof hint === 'string' ? <Hint text={hint} /> : hint}
        </p>
      )}
      <Problem id={`${id}-problem`} text={problem} />
    </div>
  );
}

/** A problem, which screen readers announce when it appears. */
export const Problem = ({ text, id }: { text: string | undefined; id?: string }) =>
  text === undefined ? null : (
    <p class="field-error" id={id} role="alert">
      {text}
    </p>
  );

/** A checkbox. */
export const Check = ({
  label,
  isOn,
  onChange,
}: {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) => (
  <label class="check">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
);

/** A hint, with text between backticks shown as code. */
export function Hint({ text }: { text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>;
}

/** A value to choose, and its label. */
export interface Choice {
  value: string;
  label?: string;
}

type SelectProps = Partial<FieldAttributes> & {
  'aria-label'?: string;
  value: string | undefined;
  options: readonly Choice[];
  /** The label of the empty value, if none has to be chosen. */
  none?: string;
  onChange: (value: string) => void;
};

/** A list to choose one value from. */
export const Select = ({ options, none, onChange, ...attributes }: SelectProps) => (
  <select {...attributes} onChange={(event) => onChange(event.currentTarget.value)}>
    {none !== undefined && <option value="">{none}</option>}
    {options.map(({ value, label = value }) => (
      <option key={value} value={value}>
        {label}
      </option>
    ))}
  </select>
);

type LabelProps = Omit<FieldProps, 'children'>;

/** A field with a list. */
export const SelectField = ({ label, hint, problem, ...props }: LabelProps & SelectProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {(attributes) => <Select {...attributes} {...props} />}
  </Field>
);

interface TextFieldProps extends LabelProps {
  value: string;
  /** Suggested values; any other text is allowed too. */
  options?: readonly Choice[] | undefined;
  autocapitalize?: 'off';
  class?: string;
  maxLength?: number;
  placeholder?: string | undefined;
  spellcheck?: boolean;
  onInput: (text: string) => void;
  onPaste?: (event: ClipboardEvent) => void;
}

/** A field for a line of text. */
export function TextField({ label, hint, problem, options, onInput, ...props }: TextFieldProps) {
  const listId = useId();
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(attributes) => (
        <>
          <input
            {...attributes}
            autocomplete="off"
            list={options && listId}
            {...props}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          {options && (
            <datalist id={listId}>
              {options.map(({ value, label: shown }) => (
                <option key={value} value={value}>
                  {shown}
                </option>
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

type LinesFieldProps = LabelProps &
  Omit<TextareaHTMLAttributes, 'label' | 'onInput'> & {
    value: string;
    onInput: (text: string) => void;
  };

/** A field for several lines, such as JSON. */
export const LinesField = ({ label, hint, problem, onInput, ...props }: LinesFieldProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {(attributes) => (
      <textarea
        {...attributes}
        class="mono"
        rows={5}
        spellcheck={false}
        {...props}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    )}
  </Field>
);

/**
 * A field for a secret. Hides its text, and keeps line breaks, which a password field would remove from a pasted key.
 */
export const SecretValue = (props: LinesFieldProps) => (
  <LinesField {...props} class="secret-value mono" rows={1} autocomplete="off" />
);

interface FilterFieldProps {
  label: string;
  type?: 'search' | 'datetime-local';
  value: string;
  problem?: string | undefined;
  /** An example of what to type into a search. */
  placeholder?: string;
  onChange: (value: string) => void;
}

/** A text filter. It is applied on Enter, or when the field loses the focus. */
export function FilterField({ label, type = 'search', value, problem, placeholder, onChange }: FilterFieldProps) {
  // Keep the typed text across renders, because the list is polled meanwhile.
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

/** A filter that is chosen from a list. */
export const FilterSelect = ({ label, ...props }: SelectProps & { label: string }) => (
  <label>
    {label}
    <Select {...props} />
  </label>
);
