import { useId, useState } from 'preact/hooks';
import type { Assistant, GraphSchemas } from '../../../contract/agent/assistant.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { Agent } from './agent-api.ts';
import { Select } from '../../parts/field.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { SchemaForm, emptyEntry, readEntry } from './schema-fields.tsx';
import { toForm } from './schema-form.ts';
import { Button } from '../../parts/button.tsx';

interface AssistantBarProps {
  agent: Agent;
  assistants: readonly Assistant[];
  assistant: Assistant;
  choose: (assistantId: string) => void;
  reload: () => Promise<void>;
}

const nameOf = ({ name, graph_id }: Assistant): string =>
  name === undefined || name === null || name === graph_id ? graph_id : `${name} (${graph_id})`;

/** Selects the assistant and its active version. */
export function AssistantBar({ agent, assistants, assistant, choose, reload }: AssistantBarProps) {
  const { assistant_id: id, version: active } = assistant;
  const { data: versions } = useLoaded(`${id} ${active ?? ''}`, () => agent.versions(id));
  const fieldId = useId();
  const [chosenVersion, setChosenVersion] = useState<number>();
  return (
    <div class="row head playground-bar">
      <div class="row muted">
        <label for={`${fieldId}-assistant`}>Assistant</label>
        <Select
          id={`${fieldId}-assistant`}
          value={id}
          options={assistants.map((each) => ({ value: each.assistant_id, label: shownText(nameOf(each), 80) }))}
          onChange={choose}
        />
      </div>
      <div class="row muted">
        <label for={`${fieldId}-version`}>Version</label>
        <Select
          id={`${fieldId}-version`}
          value={String(chosenVersion ?? active ?? '')}
          options={(versions ?? [{ version: active ?? 1 }]).map(({ version }) => ({
            value: String(version),
            label: version === active ? `${version}, active` : String(version),
          }))}
          onChange={(version) => Number(version) !== active && setChosenVersion(Number(version))}
        />
      </div>
      {assistant.description !== undefined && assistant.description !== null && (
        <p class="muted">
          <bdi>{shownText(assistant.description, 300)}</bdi>
        </p>
      )}
      {chosenVersion !== undefined && (
        <ConfirmDialog
          title={`Activate version ${chosenVersion}`}
          action="Activate"
          onConfirm={() => agent.activate(id, chosenVersion)}
          done={`Version ${chosenVersion} is active.`}
          onDone={reload}
          onClose={() => setChosenVersion(undefined)}
        >
          <p>
            Every run of this assistant, from here and from all clients, uses the context and the configuration of
            version {chosenVersion} from now on. You can activate version {active} again at any time.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

interface ConfigurationProps {
  assistant: Assistant;
  schemas: GraphSchemas;
  /** Receives the context of the next runs; undefined for the assistant's own. */
  onChange: (context: Record<string, unknown> | undefined) => void;
}

/** The context for runs that are started on this page, and the assistant's other settings. */
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
    <details class="surface playground-panel">
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
