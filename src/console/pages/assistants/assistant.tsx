import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { isDefaultAssistant, type Assistant, type AssistantVersion } from '../../../contract/agent/assistant.ts';
import { isMissing } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { AgentError, Empty, Loading } from '../../parts/notices.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { AssistantForm } from './assistant-form.tsx';
import { activateVersion, deleteAssistant, getAssistant, listVersions } from './assistants-api.ts';
import { Versions } from './versions.tsx';
import { Fact } from '../../parts/table.tsx';

interface AssistantViewProps {
  deploymentId: string;
  assistantId: string;
}

/** One assistant: its values and its versions. */
export function AssistantView({ deploymentId, assistantId }: AssistantViewProps) {
  const { data, error, reload } = useLoaded(
    assistantId,
    async (signal) => {
      const [assistant, versions] = await Promise.all([
        getAssistant(deploymentId, assistantId, signal),
        listVersions(deploymentId, assistantId, signal),
      ]);
      return { assistant, versions };
    },
    { everyMs: 15_000 },
  );
  const isGone = isMissing(error);
  return (
    <>
      <p class="head">
        <a href={paths.assistants(deploymentId)}>All assistants</a>
      </p>
      {error && !isGone && <AgentError error={error} deploymentId={deploymentId} retry={reload} />}
      {isGone && (
        <Empty title="There is no such assistant">
          <p>It was deleted, or the address is wrong.</p>
        </Empty>
      )}
      {data && !isGone && <Details deploymentId={deploymentId} reload={reload} {...data} />}
      {!data && !error && <Loading what="the assistant" />}
    </>
  );
}

interface DetailsProps {
  deploymentId: string;
  assistant: Assistant;
  versions: readonly AssistantVersion[];
  reload: () => Promise<void>;
}

type Open = { kind: 'edit' | 'delete' } | { kind: 'activate'; version: number };

function Details({ deploymentId, assistant, versions, reload }: DetailsProps) {
  const { route } = useLocation();
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const { assistant_id, name, graph_id, version, description } = assistant;
  return (
    <>
      <section class="panel" aria-labelledby="assistant-name">
        <div class="row row-split head">
          <h2 id="assistant-name">
            <Untrusted text={name || 'Without a name'} longest={200} />
          </h2>
          <div class="actions">
            <Button onClick={() => setOpen({ kind: 'edit' })}>Change</Button>
            {isDefaultAssistant(assistant) ? (
              <span class="muted">The graph’s own assistant can’t be deleted.</span>
            ) : (
              <Button kind="danger" onClick={() => setOpen({ kind: 'delete' })}>
                Delete
              </Button>
            )}
          </div>
        </div>
        <p class="mono muted">
          {shownText(assistant_id, 60)} <CopyButton text={assistant_id} label="Copy the assistant’s id" />
        </p>
        {description && (
          <p>
            <Untrusted text={description} longest={2_000} />
          </p>
        )}
        <dl class="facts assistant-facts">
          <Fact name="Graph">
            <Untrusted text={graph_id} longest={100} />
          </Fact>
          <Fact name="Active version">{version ?? 'unknown'}</Fact>
          <Fact name="Runs">
            <a href={paths.runsOf(deploymentId, { assistant: assistant_id })}>Show its runs</a>
          </Fact>
        </dl>
        <JsonView name="Context" value={assistant.context ?? {}} open />
        <JsonView name="Configuration" value={assistant.config ?? {}} />
        <JsonView name="Metadata" value={assistant.metadata ?? {}} />
      </section>
      <Versions
        versions={versions}
        active={version ?? undefined}
        onActivate={(chosen) => setOpen({ kind: 'activate', version: chosen })}
      />
      {open?.kind === 'edit' && (
        <AssistantForm
          deploymentId={deploymentId}
          graphs={[graph_id]}
          assistant={assistant}
          onSaved={() => void reload()}
          onClose={close}
        />
      )}
      {open?.kind === 'activate' && (
        <ConfirmDialog
          title={`Activate version ${open.version}?`}
          action="Activate"
          onConfirm={() => activateVersion(deploymentId, assistant_id, open.version)}
          done={`Version ${open.version} is active.`}
          onDone={reload}
          onClose={close}
        >
          <p>
            Runs that start from now on use the name, context, configuration and metadata of version {open.version}.
            Runs in progress keep theirs. You can activate version {version} again.
          </p>
        </ConfirmDialog>
      )}
      {open?.kind === 'delete' && (
        <ConfirmDialog
          title="Delete this assistant?"
          action="Delete the assistant"
          isDangerous
          onConfirm={() => deleteAssistant(deploymentId, assistant_id)}
          done="The assistant is deleted."
          onDone={() => route(paths.assistants(deploymentId))}
          onClose={close}
        >
          <p>
            <Untrusted text={name || assistant_id} longest={100} /> is deleted with all of its versions and crons.
            Threads and runs stay. This can’t be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
