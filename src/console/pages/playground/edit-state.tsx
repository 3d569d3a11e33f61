import { useState } from 'preact/hooks';
import { messageOf } from '../../../kit/errors.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { LinesField, SelectField } from '../../parts/field.tsx';
import { announce, useIsUnmounted } from '../../parts/toasts.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { changedValues, type Step } from './history.ts';
import { readJsonObject } from '../../parts/json-text.ts';
import { Button } from '../../parts/button.tsx';

interface EditStateProps {
  step: Step;
  nodeNames: readonly string[];
  onSave: (values: Record<string, unknown>, asNode: string | undefined) => Promise<void>;
  onClose: () => void;
}

/** Changes the values of a state, as if a node had returned them. */
export function EditState({ step, nodeNames, onSave, onClose }: EditStateProps) {
  const { values } = step.state;
  const [text, setText] = useState(() => JSON.stringify(values, undefined, 2));
  const [asNode, setAsNode] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const isUnmounted = useIsUnmounted();
  const parsed = readJsonObject(text);
  const changed = parsed.problem === undefined ? changedValues(values, parsed.value) : {};
  const keys = Object.keys(changed);
  const save = async (): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onSave(changed, asNode === '' ? undefined : asNode);
      if (!isUnmounted()) onClose();
    } catch (error) {
      if (isUnmounted()) announce(messageOf(error), 'failed');
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Edit the state" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <p class="muted">
          This adds a step to the thread; the step before it stays. Only the keys that you change are written, through
          the graph's reducers: a list that appends gets the entries added.
        </p>
        <LinesField
          label="Values (JSON)"
          problem={parsed.problem ?? problem}
          rows={14}
          value={text}
          onInput={setText}
        />
        <SelectField
          label="As node"
          hint="The graph continues with what follows this node."
          value={asNode}
          options={[
            { value: '', label: 'The node that ran last' },
            ...nodeNames.map((value) => ({ value, label: shownText(value, 80) })),
          ]}
          onChange={setAsNode}
        />
        <p role="status">{keys.length === 0 ? 'Nothing is changed.' : `Changes ${shownText(keys.join(', '), 200)}.`}</p>
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={isBusy || keys.length === 0}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
