import { useState } from 'preact/hooks';
import type { Assistant, AssistantPatch } from '../../../contract/agent/assistant.ts';
import { useForm } from '../../api/use-form.ts';
import { isSame } from '../../parts/changes.ts';
import { LinesField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { readOptionalJsonObject, toJsonText } from '../../parts/json-text.ts';
import { announce } from '../../parts/toasts.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { createAssistant, patchAssistant } from './assistants-api.ts';

interface AssistantFormProps {
  deploymentId: string;
  /** The graphs to choose from. */
  graphs: readonly string[];
  /** The assistant to change; a new one if absent. */
  assistant?: Assistant;
  onSaved: (assistant: Assistant) => void;
  onClose: () => void;
}

/** Creates an assistant, or a new version of one. */
export function AssistantForm({ deploymentId, graphs, assistant, onSaved, onClose }: AssistantFormProps) {
  const { status, values, submit, show, typed } = useForm({
    name: assistant?.name ?? '',
    description: assistant?.description ?? '',
    graph_id: assistant?.graph_id,
    context: toJsonText(assistant?.context),
    config: toJsonText(assistant?.config),
    metadata: toJsonText(assistant?.metadata),
  });
  // The graphs may be loaded after the form was opened.
  const { value: graph } = typed('graph_id', graphs[0]);
  // The id is created once, so that a retry does not create a second assistant.
  const [newId] = useState(() => crypto.randomUUID());
  const save = async (): Promise<void> => {
    const [name, description] = [values.name.trim(), values.description.trim()];
    const [context, config, metadata] = [values.context, values.config, values.metadata].map(readOptionalJsonObject);
    const found = {
      name: name === '' ? 'Enter a name.' : undefined,
      graph_id: graph.trim() === '' ? 'Enter the name of a graph of the agent.' : undefined,
      context: context?.problem,
      config: config?.problem,
      metadata: metadata?.problem,
    };
    if (Object.values(found).some((problem) => problem !== undefined)) {
      show(found);
      return;
    }
    const changed = changedFields(
      {
        name,
        description,
        ...(context?.value && { context: context.value }),
        ...(config?.value && { config: config.value }),
        ...(metadata?.value && { metadata: metadata.value }),
      },
      assistant,
    );
    if (Object.keys(changed).length === 0) {
      show({ '': 'Nothing is changed.' });
      return;
    }
    const saved = await submit(async () => {
      const result = assistant
        ? await patchAssistant(deploymentId, assistant.assistant_id, changed)
        : await createAssistant(deploymentId, {
            ...changed,
            graph_id: graph.trim(),
            assistant_id: newId,
            if_exists: 'do_nothing',
          });
      announce(
        assistant
          ? `Version ${result.version ?? ''} is active.`
          : `The assistant ${shownText(result.name ?? '', 100)} is made.`,
      );
      onSaved(result);
    });
    if (saved) onClose();
  };
  return (
    <FormDialog
      title={assistant ? 'Change the assistant' : 'New assistant'}
      action={assistant ? 'Save as the next version' : 'Make the assistant'}
      {...status}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      {assistant && (
        <p class="muted head">
          This makes a new version, which is active at once. Every former version stays and can be activated again.
        </p>
      )}
      <TextField label="Name" {...typed('name')} />
      <TextField label="Description" {...typed('description')} />
      {!assistant && (
        <TextField
          label="Graph"
          hint="A graph of the agent, by its name."
          {...typed('graph_id', graphs[0])}
          options={graphs.map((value) => ({ value }))}
        />
      )}
      <LinesField
        label="Context (JSON)"
        hint={`What the graph reads at run time.${assistant ? ' It replaces the former context.' : ''}`}
        {...typed('context')}
      />
      <LinesField
        label="Configuration (JSON)"
        hint={`Such as { "recursion_limit": 50, "tags": [] }.${assistant ? ' It replaces the former configuration.' : ''}`}
        {...typed('config')}
        rows={3}
      />
      <LinesField
        label="Metadata (JSON)"
        hint={
          assistant
            ? 'Keys are added or replaced. A key that you leave out stays.'
            : 'Keys by which the assistant can be found.'
        }
        {...typed('metadata')}
        rows={3}
      />
    </FormDialog>
  );
}

/** The changed fields. Only these are sent: the agent copies the context into the configuration, which must not win. */
function changedFields(values: AssistantPatch, assistant: Assistant | undefined): AssistantPatch {
  const { name = '', description = '', context = {}, config = {}, metadata = {} } = assistant ?? {};
  const former = { name: name ?? '', description: description ?? '', context, config, metadata };
  return {
    ...(values.name !== former.name && { name: values.name }),
    ...(values.description !== former.description && { description: values.description }),
    ...(!isSame(values.context, former.context ?? {}) && { context: values.context }),
    ...(!isSame(values.config, former.config ?? {}) && { config: values.config }),
    ...(!isSame(values.metadata, former.metadata ?? {}) && { metadata: values.metadata }),
  };
}
