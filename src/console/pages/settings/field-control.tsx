import type { Deployment } from '../../../contract/control/deployment.ts';
import { Field, Hint } from '../../parts/field.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { initialText } from './changes.ts';
import { fixedTextOf, valueAt, type SettingsField } from './fields.ts';

/** The words for when a change takes effect, beside the rule. */
const effects = {
  revision: 'A change creates a revision.',
  'in-place': 'Changes at once.',
  'next-revision': 'Takes effect with the next revision.',
  fixed: '',
  'read-only': '',
} as const;

interface FieldControlProps {
  deployment: Deployment;
  field: SettingsField;
  edited: string | undefined;
  problem: string | undefined;
  onInput: (text: string) => void;
}

/** The control of a field that may be changed. */
export function FieldControl({ deployment, field, edited, problem, onInput }: FieldControlProps) {
  const text = edited ?? initialText(deployment, field);
  const hint = (
    <>
      <Hint text={field.hint} /> <span class="settings-effect">{effects[field.effect]}</span>
    </>
  );
  return (
    <Field label={field.label} hint={hint} problem={problem}>
      {(attributes) => {
        if (field.control === 'flag') {
          return (
            <input
              {...attributes}
              type="checkbox"
              checked={text === 'true'}
              onChange={(event) => onInput(String(event.currentTarget.checked))}
            />
          );
        }
        if (field.control === 'json') {
          return (
            <textarea
              {...attributes}
              class="mono"
              rows={Math.min(20, Math.max(4, text.split('\n').length))}
              spellcheck={false}
              value={text}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
          );
        }
        return (
          <input
            {...attributes}
            value={text}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        );
      }}
    </Field>
  );
}

/** What was set on create, or by the service. */
export function FixedFields({ deployment, fields }: { deployment: Deployment; fields: readonly SettingsField[] }) {
  return (
    <dl class="settings-fixed">
      {fields.map(({ path, label }) => {
        const value = valueAt(deployment, path);
        return (
          <div key={path}>
            <dt>{label}</dt>
            <dd>
              {value === undefined ? <span class="muted">not set</span> : <Untrusted text={fixedTextOf(path, value)} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
