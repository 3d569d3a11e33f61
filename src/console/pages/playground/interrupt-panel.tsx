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
  /** Resumes the graph with the answers. */
  onAnswer: (command: { resume: unknown }) => Promise<void>;
}

/** The answer to an interrupt; undefined while it is incomplete. */
type Answer = { value: unknown } | undefined;

/** The interrupts of a graph and the forms for their answers. All interrupts are answered together. */
export function InterruptPanel({ interrupts, onAnswer }: InterruptPanelProps) {
  const [answers, setAnswers] = useState<readonly Answer[]>(interrupts.map(() => undefined));
  const { status, submit } = useForm({});
  const [firstInterrupt] = interrupts;
  const format = resumeFormatOf(firstInterrupt?.value);
  // The buttons of a single action send its decision directly.
  const isSentByClick = interrupts.length === 1 && format.kind === 'actions' && format.actions.length === 1;
  const completeAnswers = interrupts.flatMap((interrupt, index) => {
    const answer = answers[index];
    return answer ? [{ interrupt, value: answer.value }] : [];
  });
  const send = (all: typeof completeAnswers): Promise<boolean> => submit(() => onAnswer(resumeCommand(all)));
  return (
    <section class="playground-interrupts" aria-label="Waiting for you">
      <h2>The agent needs your answer</h2>
      {interrupts.map((interrupt, index) => (
        <InterruptForm
          key={interrupt.id ?? index}
          interrupt={interrupt}
          onChange={(answer) => setAnswers((former) => former.with(index, answer))}
          // A single interrupt can be answered by one click.
          onDecide={
            interrupts.length === 1 && firstInterrupt
              ? (value) => void send([{ interrupt: firstInterrupt, value }])
              : undefined
          }
          isBusy={status.isBusy}
        />
      ))}
      <Problem text={status.problem} />
      {!isSentByClick && (
        <div class="actions">
          <Button
            kind="primary"
            disabled={status.isBusy || completeAnswers.length < interrupts.length}
            onClick={() => void send(completeAnswers)}
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
  /** Sends a value directly; undefined if there are other interrupts. */
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
  const [decisions, setDecisions] = useState<readonly (Decision | undefined)[]>(actions.map(() => undefined));
  const decide = (index: number, decision: Decision | undefined, isFinal: boolean): void => {
    const next = decisions.with(index, decision);
    setDecisions(next);
    const all = next.filter((each) => each !== undefined);
    const value = all.length === actions.length ? { value: resumeValue(format, all) } : undefined;
    onChange(value);
    if (isFinal && value && actions.length === 1) onDecide?.(value.value);
  };
  return actions.map((action, index) => (
    <ActionDecision
      key={index}
      action={action}
      decision={decisions[index]}
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
