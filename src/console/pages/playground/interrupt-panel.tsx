import { useState } from 'preact/hooks';
import { useForm } from '../../api/use-form.ts';
import { LinesField, Problem } from '../../parts/field.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { ActionDecision } from './action-decision.tsx';
import {
  resumeFormatOf,
  readAnswer,
  resumeCommand,
  resumeValue,
  type Decision,
  type Interrupt,
  type ResumeFormat,
} from './interrupts.ts';
import { Button } from '../../parts/button.tsx';

interface InterruptPanelProps {
  interrupts: readonly Interrupt[];
  /** Continues the graph. */
  onAnswer: (command: { resume: unknown }) => Promise<void>;
}

/** The answer to an interrupt as it stands; undefined while it is incomplete. */
type Answer = { value: unknown } | undefined;

/** What the graph waits for, and the answers that continue it. All interrupts are answered together. */
export function InterruptPanel({ interrupts, onAnswer }: InterruptPanelProps) {
  const [answers, setAnswers] = useState<readonly Answer[]>(interrupts.map(() => undefined));
  const { status, submit } = useForm({});
  const [only] = interrupts;
  const format = resumeFormatOf(only?.value);
  // The buttons of a single action send its decision at once.
  const isDecidedAtOnce = interrupts.length === 1 && format.kind === 'actions' && format.actions.length === 1;
  const given = interrupts.flatMap((interrupt, index) => {
    const answer = answers[index];
    return answer ? [{ interrupt, value: answer.value }] : [];
  });
  const send = (all: typeof given): Promise<boolean> => submit(() => onAnswer(resumeCommand(all)));
  return (
    <section class="playground-interrupts" aria-label="Waiting for you">
      <h2>The agent needs your answer</h2>
      {interrupts.map((interrupt, index) => (
        <InterruptForm
          key={interrupt.id ?? index}
          interrupt={interrupt}
          onChange={(answer) => setAnswers((former) => former.with(index, answer))}
          // A decision by one click needs no other.
          onDecide={interrupts.length === 1 && only ? (value) => void send([{ interrupt: only, value }]) : undefined}
          isBusy={status.isBusy}
        />
      ))}
      <Problem text={status.problem} />
      {!isDecidedAtOnce && (
        <div class="actions">
          <Button
            kind="primary"
            disabled={status.isBusy || given.length < interrupts.length}
            onClick={() => void send(given)}
          >
            {interrupts.length === 1 ? 'Send answer' : 'Send answers'}
          </Button>
        </div>
      )}
    </section>
  );
}

interface InterruptFormProps {
  interrupt: Interrupt;
  onChange: (answer: Answer) => void;
  /** Sends a value at once; undefined where other interrupts wait too. */
  onDecide: ((value: unknown) => void) | undefined;
  isBusy: boolean;
}

function InterruptForm({ interrupt, onChange, onDecide, isBusy }: InterruptFormProps) {
  const format = resumeFormatOf(interrupt.value);
  return (
    <div class="playground-interrupt">
      <p class="muted">
        Node <code>{shownText(interrupt.node, 100)}</code>
      </p>
      {format.kind === 'actions' ? (
        <Actions format={format} onChange={onChange} onDecide={onDecide} isBusy={isBusy} />
      ) : (
        <FreeAnswer value={interrupt.value} onChange={onChange} onDecide={onDecide} isBusy={isBusy} />
      )}
    </div>
  );
}

type FormProps = Omit<InterruptFormProps, 'interrupt'>;

function Actions({
  format,
  onChange,
  onDecide,
  isBusy,
}: FormProps & { format: Extract<ResumeFormat, { kind: 'actions' }> }) {
  const { actions } = format;
  const [made, setMade] = useState<readonly (Decision | undefined)[]>(actions.map(() => undefined));
  const decide = (index: number, decision: Decision | undefined, isFinal: boolean): void => {
    const next = made.with(index, decision);
    setMade(next);
    const all = next.filter((each) => each !== undefined);
    const value = all.length === actions.length ? { value: resumeValue(format, all) } : undefined;
    onChange(value);
    if (isFinal && value && actions.length === 1) onDecide?.(value.value);
  };
  return actions.map((action, index) => (
    <ActionDecision
      key={index}
      action={action}
      decision={made[index]}
      isBusy={isBusy}
      onDecide={(decision, isFinal) => decide(index, decision, isFinal)}
    />
  ));
}

function FreeAnswer({ value, onChange, onDecide, isBusy }: FormProps & { value: unknown }) {
  const [text, setText] = useState('');
  const change = (typed: string): void => {
    setText(typed);
    onChange(typed === '' ? undefined : { value: readAnswer(typed) });
  };
  return (
    <>
      {typeof value === 'string' ? (
        <p>
          <bdi class="untrusted">{shownText(value, 5_000)}</bdi>
        </p>
      ) : (
        <JsonView value={value} open />
      )}
      <LinesField
        label="Answer"
        hint="Text, or JSON such as true, 42 or an object."
        class=""
        rows={2}
        spellcheck
        value={text}
        disabled={isBusy}
        onInput={change}
      />
      {onDecide && (
        <div class="actions">
          <Button disabled={isBusy} onClick={() => onDecide(true)}>
            Approve (true)
          </Button>
          <Button disabled={isBusy} onClick={() => onDecide(false)}>
            Reject (false)
          </Button>
        </div>
      )}
    </>
  );
}
