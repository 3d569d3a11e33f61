import { useId, useState } from 'preact/hooks';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { announce } from '../../parts/toasts.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { Agent } from './agent-api.ts';

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
  const [wanted, setWanted] = useState<number>();
  const field = useId();
  return (
    <div class="playground-bar">
      <div>
        <label for={`${field}-assistant`}>Assistant</label>
        <select id={`${field}-assistant`} value={id} onChange={(event) => choose(event.currentTarget.value)}>
          {assistants.map((each) => (
            <option key={each.assistant_id} value={each.assistant_id}>
              {shownText(nameOf(each), 80)}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for={`${field}-version`}>Version</label>
        <select
          id={`${field}-version`}
          value={String(wanted ?? active ?? '')}
          onChange={(event) => {
            const chosen = Number(event.currentTarget.value);
            if (chosen !== active) setWanted(chosen);
          }}
        >
          {(versions ?? [{ version: active ?? 1 }]).map(({ version }) => (
            <option key={version} value={String(version)}>
              {version === active ? `${version}, active` : version}
            </option>
          ))}
        </select>
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
