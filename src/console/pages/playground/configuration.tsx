import { useState } from 'preact/hooks';
import type { Assistant, GraphSchemas } from '../../../contract/agent/assistant.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { SchemaForm, emptyEntry, readEntry } from './schema-fields.tsx';
import { toForm } from './schema-form.ts';
import { Button } from '../../parts/button.tsx';

interface ConfigurationProps {
  assistant: Assistant;
  schemas: GraphSchemas;
  /** The context of the next runs; undefined for the assistant's own. */
  onChange: (context: Record<string, unknown> | undefined) => void;
}

/** The context that runs from this page are started with, and the rest of the assistant's settings. */
export function Configuration({ assistant, schemas, onChange }: ConfigurationProps) {
  const form = toForm(schemas.context_schema ?? schemas.config_schema);
  const [entry, setEntry] = useState(() => emptyEntry(form, assistant.context ?? {}));
  const [isChanged, setChanged] = useState(false);
  const { value, problems } = readEntry(form, entry);
  const change = (changed: typeof entry): void => {
    setEntry(changed);
    setChanged(true);
    onChange(readEntry(form, changed).value);
  };
  const reset = (): void => {
    setEntry(emptyEntry(form, assistant.context ?? {}));
    setChanged(false);
    onChange(undefined);
  };
  return (
    <details class="playground-panel">
      <summary>
        <h2>Context{isChanged ? ' (changed)' : ''}</h2>
      </summary>
      <p class="muted">Runs from this page are started with these values. The assistant itself stays as it is.</p>
      <SchemaForm form={form} entry={entry} problems={problems} onChange={change} label="Context" />
      {isChanged && value === undefined && (
        <p class="field-error">Runs use the assistant's own context until every field is valid.</p>
      )}
      <Button disabled={!isChanged} onClick={reset}>
        Use the assistant's context
      </Button>
      <JsonView name="config" value={assistant.config ?? {}} />
      <JsonView name="metadata" value={assistant.metadata ?? {}} />
    </details>
  );
}
