import { useMemo, useState } from 'preact/hooks';
import { useAction, useForm } from '../../api/use-form.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { announce, useIsUnmounted } from '../../parts/toasts.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { Agent } from './agent-api.ts';
import { toSteps, type Step, changedValues } from './history.ts';
import type { ThreadSession } from './thread-session.ts';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { LinesField, SelectField } from '../../parts/field.tsx';
import { readJsonObject } from '../../parts/json-text.ts';

interface StepsProps {
  agent: Agent;
  session: ThreadSession;
  assistantId: string;
  context: Record<string, unknown> | undefined;
  setFork: (step: Step | undefined) => void;
  nodeNames: readonly string[];
}

/** The state after each step of the thread, newest first. */
export function Steps({ agent, session, assistantId, context, setFork, nodeNames }: StepsProps) {
  const states = session.states.value;
  const steps = useMemo(() => toSteps(states), [states]);
  const [edited, setEdited] = useState<Step>();
  const [isBusy, run] = useAction();
  const shownRun = session.run.value?.run_id;
  const isRunning = session.isFollowing.value;
  const runFrom = ({ checkpoint }: Step): Promise<void> =>
    run(() => session.start({ assistantId, context, checkpoint }));
  return (
    <details class="surface playground-panel" open>
      <summary>
        <h2>Steps</h2>
      </summary>
      {steps.length === 0 && (
        <p class="muted">
          {isRunning
            ? 'The steps are listed when the run has ended.'
            : 'No steps yet. Each step of a run is kept here with its state.'}
        </p>
      )}
      <ol class="plain playground-steps" aria-label="Steps">
        {steps.map((step) => (
          <StepItem
            key={step.id}
            step={step}
            isOfRun={step.runId === shownRun}
            canRun={!isBusy && !isRunning}
            onRun={() => void runFrom(step)}
            onFork={() => setFork(step)}
            onEdit={() => setEdited(step)}
          />
        ))}
      </ol>
      {session.hasMoreStates.value && <Button onClick={() => void session.loadMoreStates()}>Show older steps</Button>}
      {edited && (
        <EditState
          step={edited}
          nodeNames={nodeNames}
          onSave={async (values, asNode) => {
            await agent.updateState(session.threadId, edited.checkpoint, {
              values,
              ...(asNode ? { as_node: asNode } : {}),
            });
            await session.reload();
            announce('The state is changed. Run it again from the new step to continue.');
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </details>
  );
}

interface StepItemProps {
  step: Step;
  isOfRun: boolean;
  canRun: boolean;
  onRun: () => void;
  onFork: () => void;
  onEdit: () => void;
}

function StepItem({ step, isOfRun, canRun, onRun, onFork, onEdit }: StepItemProps) {
  const [isOpen, setOpen] = useState(false);
  const { number, origin, isFork, at, changes } = step;
  return (
    <li class={isOfRun ? 'playground-step-of-run' : ''}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="row row-split">
          <span class="fold playground-step-name">
            {number !== undefined && number >= 0 && <span class="muted">{number} </span>}
            <bdi>{shownText(origin, 80)}</bdi>
            {isFork && <span class="muted"> (forked)</span>}
          </span>
          {at !== undefined && <TimeAgo at={at} />}
          {changes.length > 0 && (
            <span class="muted playground-step-changes">
              {shownText(changes.map(({ key }) => key).join(', '), 120)}
            </span>
          )}
        </summary>
        {/* Rendering the values of all steps would make a large page. */}
        {isOpen && <StepDetails {...{ step, canRun, onRun, onFork, onEdit }} />}
      </details>
    </li>
  );
}

function StepDetails({ step, canRun, onRun, onFork, onEdit }: Omit<StepItemProps, 'isOfRun'>) {
  const { next, changes, state } = step;
  return (
    <>
      {next.length > 0 && (
        <p class="muted">
          Next: <bdi>{shownText(next.join(', '), 200)}</bdi>
        </p>
      )}
      {changes.map(({ key, kind, left, right }) => (
        <div key={key} class="playground-change">
          <p>
            <code>{shownText(key, 80)}</code> {kind}
          </p>
          {kind !== 'added' && <JsonView name="before" value={left} />}
          {kind !== 'removed' && <JsonView name="after" value={right} />}
        </div>
      ))}
      <JsonView name="values" value={state.values} />
      <div class="actions">
        <Button
          disabled={!canRun || next.length === 0}
          title={next.length === 0 ? 'Nothing is left to run after this step.' : undefined}
          onClick={onRun}
        >
          Run again from here
        </Button>
        <Button disabled={!canRun} onClick={onFork}>
          Fork from here
        </Button>
        <Button disabled={!canRun} onClick={onEdit}>
          Edit the state
        </Button>
      </div>
    </>
  );
}

interface EditStateProps {
  step: Step;
  nodeNames: readonly string[];
  onSave: (values: Record<string, unknown>, asNode: string) => Promise<void>;
  onClose: () => void;
}

/** Edits the values of a state, as if a node had returned them. */
function EditState({ step, nodeNames, onSave, onClose }: EditStateProps) {
  const { values: former } = step.state;
  const { status, values, submit, typed } = useForm(() => ({
    values: JSON.stringify(former, undefined, 2),
    as_node: '',
  }));
  const { onInput: choose, ...asNode } = typed('as_node');
  const isUnmounted = useIsUnmounted();
  const parsed = readJsonObject(values.values);
  const changed = parsed.problem === undefined ? changedValues(former, parsed.value) : {};
  const keys = Object.keys(changed);
  const save = async (): Promise<void> => {
    const isSaved = await submit(() => onSave(changed, values.as_node));
    if (isSaved && !isUnmounted()) onClose();
  };
  return (
    <FormDialog
      title="Edit the state"
      action="Save"
      isBusy={status.isBusy}
      isReady={keys.length > 0}
      problem={undefined}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <p class="muted">
        This adds a step to the thread; the step before it stays. Only the keys that you change are written, through the
        graph's reducers: a list that appends gets the entries added.
      </p>
      <LinesField
        label="Values (JSON)"
        {...typed('values')}
        problem={parsed.problem ?? typed('values').problem ?? status.problem}
        rows={14}
      />
      <SelectField
        label="As node"
        hint="The graph continues with what follows this node."
        {...asNode}
        none="The node that ran last"
        options={nodeNames.map((value) => ({ value, label: shownText(value, 80) }))}
        onChange={choose}
      />
      <p role="status">{keys.length === 0 ? 'Nothing is changed.' : `Changes ${shownText(keys.join(', '), 200)}.`}</p>
    </FormDialog>
  );
}
