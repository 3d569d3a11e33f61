import { Field, LinesField } from '../../parts/field.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { readJsonObject } from '../../parts/json-text.ts';
import { isGroup, readForm, toDraft, type Draft, type FormField, type Problems } from './schema-form.ts';
import { Button } from '../../parts/button.tsx';

type Form = Extract<FormField, { kind: 'group' }> | undefined;

/** The input of a form, or the JSON that replaces it. */
export interface Entry {
  draft: Draft;
  json: string;
  isJson: boolean;
}

export const emptyEntry = (form: Form, value: Record<string, unknown> = {}): Entry => ({
  draft: form ? toDraft(form, value) : undefined,
  json: JSON.stringify(value, undefined, 2),
  isJson: !form,
});

/** The value of a form; undefined while it has problems. */
export function readEntry(
  form: Form,
  entry: Entry,
): { value: Record<string, unknown> | undefined; problems: Problems } {
  if (form && !entry.isJson) {
    const { value, problems } = readForm(form, entry.draft);
    const isValid = Object.keys(problems).length === 0;
    return { value: isValid ? Object.fromEntries(Object.entries(value ?? {})) : undefined, problems };
  }
  const parsed = readJsonObject(entry.json);
  return parsed.problem !== undefined
    ? { value: undefined, problems: { '': parsed.problem } }
    : { value: parsed.value, problems: {} };
}

interface SchemaFormProps {
  form: Form;
  entry: Entry;
  problems: Problems;
  onChange: (entry: Entry) => void;
  label: string;
}

/** A form made from a JSON schema, with a switch to JSON. */
export function SchemaForm({ form, entry, problems, onChange, label }: SchemaFormProps) {
  const toggle = (isJson: boolean): void => {
    const { value } = readEntry(form, entry);
    // Valid input is kept.
    if (value) onChange({ ...emptyEntry(form, value), isJson });
    else onChange({ ...entry, isJson });
  };
  return (
    <div class="playground-form">
      {form && (
        <label class="check head">
          <input type="checkbox" checked={entry.isJson} onChange={(event) => toggle(event.currentTarget.checked)} />
          {label} as JSON
        </label>
      )}
      {form && !entry.isJson ? (
        form.fields.map((field) => (
          <SchemaField
            key={field.name}
            field={field}
            path={field.name}
            draft={isGroup(entry.draft) ? entry.draft[field.name] : undefined}
            problems={problems}
            onChange={(draft) => {
              const former = isGroup(entry.draft) ? entry.draft : {};
              onChange({ ...entry, draft: { ...former, [field.name]: draft } });
            }}
          />
        ))
      ) : (
        <LinesField
          label={`${label} (JSON)`}
          problem={problems['']}
          rows={6}
          value={entry.json}
          onInput={(json) => onChange({ ...entry, json })}
        />
      )}
    </div>
  );
}

interface SchemaFieldProps {
  field: FormField;
  path: string;
  draft: Draft;
  problems: Problems;
  onChange: (draft: Draft) => void;
}

function SchemaField({ field, path, draft, problems, onChange }: SchemaFieldProps) {
  const name = shownText(field.name || `Entry ${Number(path.split('.').at(-1)) + 1}`, 80);
  const label = field.isRequired && !field.isNullable && field.name !== '' ? `${name} (required)` : name;
  if (field.kind === 'group') {
    return (
      <fieldset class="playground-group">
        <legend>{label}</legend>
        {isGroup(draft) ? (
          field.fields.map((each) => (
            <SchemaField
              key={each.name}
              field={each}
              path={`${path}.${each.name}`}
              draft={draft[each.name]}
              problems={problems}
              onChange={(changed) => onChange({ ...draft, [each.name]: changed })}
            />
          ))
        ) : (
          <Button onClick={() => onChange(toDraft({ ...field, isRequired: true }))}>Add {name}</Button>
        )}
        {isGroup(draft) && !field.isRequired && <Button onClick={() => onChange(undefined)}>Leave out {name}</Button>}
      </fieldset>
    );
  }
  if (field.kind === 'list') {
    const entries = Array.isArray(draft) ? draft : [];
    return (
      <fieldset class="playground-group">
        <legend>{label}</legend>
        {entries.map((each, index) => (
          <div class="line playground-entry" key={index}>
            <SchemaField
              field={field.item}
              path={`${path}.${index}`}
              draft={each}
              problems={problems}
              onChange={(changed) => onChange(entries.with(index, changed))}
            />
            <Button
              kind="icon"
              label={`Remove entry ${index + 1} of ${name}`}
              onClick={() => onChange(entries.length === 1 ? undefined : entries.toSpliced(index, 1))}
            >
              ×
            </Button>
          </div>
        ))}
        <Button onClick={() => onChange([...entries, toDraft(field.item)])}>Add to {name}</Button>
        {problems[path] !== undefined && <p class="field-error">{problems[path]}</p>}
      </fieldset>
    );
  }
  return (
    <Field
      label={label}
      hint={field.hint === undefined ? undefined : shownText(field.hint, 300)}
      problem={problems[path]}
    >
      {(attributes) => {
        const shown = typeof draft === 'string' ? draft : '';
        const common = { ...attributes, 'aria-required': label !== name };
        const onInput = (event: { currentTarget: { value: string } }): void => onChange(event.currentTarget.value);
        if (field.kind === 'boolean' || field.kind === 'choice') {
          const options = field.kind === 'choice' ? field.options.map(String) : ['yes', 'no'];
          const values =
            field.kind === 'choice' ? field.options.map((_option, index) => String(index)) : ['true', 'false'];
          return (
            <select
              {...common}
              value={typeof draft === 'boolean' ? String(draft) : shown}
              onChange={({ currentTarget: { value } }) =>
                onChange(field.kind === 'choice' ? value : value === '' ? undefined : value === 'true')
              }
            >
              <option value="">{field.isRequired ? 'Choose' : 'Not set'}</option>
              {options.map((option, index) => (
                <option key={option} value={values[index]}>
                  {shownText(option, 80)}
                </option>
              ))}
            </select>
          );
        }
        if (field.kind === 'number') return <input {...common} inputMode="decimal" value={shown} onInput={onInput} />;
        const rows = field.kind === 'json' ? 4 : Math.min(10, shown.split('\n').length);
        return (
          <textarea
            {...common}
            class={field.kind === 'json' ? 'mono' : ''}
            rows={rows}
            value={shown}
            placeholder={field.kind === 'json' ? 'JSON' : ''}
            onInput={onInput}
          />
        );
      }}
    </Field>
  );
}
