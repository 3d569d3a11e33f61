import { useId, useState } from 'preact/hooks';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { announce } from '../../parts/toasts.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { Agent } from './agent-api.ts';
import { Select } from '../../parts/field.tsx';

interface AssistantBarProps {
  agent: Agent;
  assistants: readonly Assistant[];
  assistant: Assistant;
  choose: (assistantId: string) => void;
  reload: () => Promise<void>;
}

const nameOf = ({ name, graph_id }: Assistant): string =>
  name === undefined || name === null || name === graph_id ? graph_id : `${name} (${graph_id})`;

/** Chooses the assistant, and which of its versions is active. */
export function AssistantBar({ agent, assistants, assistant, choose, reload }: AssistantBarProps) {
  const { assistant_id: id, version: active } = assistant;
  const { data: versions } = useLoaded(`${id} ${active ?? ''}`, () => agent.versions(id));
  const field = useId();
  const [wanted, setWanted] = useState<number>();
  return (
    <div class="row head playground-bar">
      <div>
        <label for={`${field}-assistant`}>Assistant</label>
        <Select
          id={`${field}-assistant`}
          value={id}
          options={assistants.map((each) => ({ value: each.assistant_id, label: shownText(nameOf(each), 80) }))}
          onChange={choose}
        />
      </div>
      <div>
        <label for={`${field}-version`}>Version</label>
        <Select
          id={`${field}-version`}
          value={String(wanted ?? active ?? '')}
          options={(versions ?? [{ version: active ?? 1 }]).map(({ version }) => ({
            value: String(version),
            label: version === active ? `${version}, active` : String(version),
          }))}
          onChange={(version) => Number(version) !== active && setWanted(Number(version))}
        />
      </div>
      {assistant.description !== undefined && assistant.description !== null && (
        <p class="muted">
          <bdi>{shownText(assistant.description, 300)}</bdi>
        </p>
      )}
      {wanted !== undefined && (
        <ConfirmDialog
          title={`Activate version ${wanted}`}
          action="Activate"
          onConfirm={async () => {
            await agent.activate(id, wanted);
            announce(`Version ${wanted} is active.`);
            await reload();
          }}
          onClose={() => setWanted(undefined)}
        >
          <p>
            Every run of this assistant, from here and from all clients, uses the context and the configuration of
            version {wanted} from now on. You can activate version {active} again at any time.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
