import type { Deployment } from '../../../contract/control/deployment.ts';
import { Field, Hint, LinesField, TextField } from '../../parts/field.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { initialText } from './changes.ts';
import { fixedTextOf, valueAt, type SettingsField } from './fields.ts';
import { Fact } from '../../parts/table.tsx';

/** When a change takes effect; shown after the hint. */
const effectTexts = {
  revision: 'A change creates a revision.',
  'in-place': 'Changes at once.',
  'next-revision': 'Takes effect with the next revision.',
  fixed: '',
  'read-only': '',
} as const;

interface FieldControlProps {
  deployment: Deployment;
  field: SettingsField;
  editedText: string | undefined;
  problem: string | undefined;
  onInput: (text: string) => void;
}

/** The control of a field that may be changed. */
export function FieldControl({ deployment, field, editedText, problem, onInput }: FieldControlProps) {
  const text = editedText ?? initialText(deployment, field);
  const hint = (
    <>
      <Hint text={field.hint} /> <span class="settings-effect">{effectTexts[field.effect]}</span>
    </>
  );
  const fieldProps = { label: field.label, hint, problem };
  if (field.control === 'flag') {
    return (
      <Field {...fieldProps}>
        {(attributes) => (
          <input
            {...attributes}
            type="checkbox"
            checked={text === 'true'}
            onChange={(event) => onInput(String(event.currentTarget.checked))}
          />
        )}
      </Field>
    );
  }
  if (field.control === 'text') return <TextField {...fieldProps} value={text} spellcheck={false} onInput={onInput} />;
  const rows = Math.min(20, Math.max(4, text.split('\n').length));
  return <LinesField {...fieldProps} rows={rows} value={text} onInput={onInput} />;
}

/** The values that were set on create, or by the service. */
export function FixedFields({ deployment, fields }: { deployment: Deployment; fields: readonly SettingsField[] }) {
  return (
    <dl class="facts settings-fixed">
      {fields.map(({ path, label }) => {
        const value = valueAt(deployment, path);
        return (
          <Fact key={path} name={label}>
            {value === undefined ? <span class="muted">not set</span> : <Untrusted text={fixedTextOf(path, value)} />}
          </Fact>
        );
      })}
    </dl>
  );
}
