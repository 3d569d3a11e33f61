import { useState } from 'preact/hooks';
import { LinesField } from '../../parts/field.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { ActionRequest, Decision } from './interrupts.ts';
import { readJsonObject } from '../../parts/json-text.ts';
import { Button } from '../../parts/button.tsx';

interface ActionDecisionProps {
  action: ActionRequest;
  decision: Decision | undefined;
  isBusy: boolean;
  /** `isFinal`: whether the decision is complete. */
  onDecide: (decision: Decision | undefined, isFinal: boolean) => void;
}

const labels = { approve: 'Approve', edit: 'Edit', respond: 'Respond', reject: 'Reject' } as const;

/** An action that waits for a decision: to approve, edit, answer or reject it. */
export function ActionDecision({ action, decision, isBusy, onDecide }: ActionDecisionProps) {
  const [open, setOpen] = useState<'edit' | 'respond' | 'reject'>();
  const [text, setText] = useState('');
  const parsed = open === 'edit' ? readJsonObject(text) : undefined;
  const problem = parsed?.problem;
  const start = (kind: typeof open): void => {
    setOpen(kind);
    setText(kind === 'edit' ? JSON.stringify(action.args, undefined, 2) : '');
    onDecide(undefined, false);
  };
  const confirm = (): void => {
    if (!open) return;
    if (parsed?.value) onDecide({ kind: 'edit', args: parsed.value }, true);
    else if (open !== 'edit') onDecide({ kind: open, message: text }, true);
  };
  return (
    <div class="playground-action">
      <p>
        <strong>
          <code>{shownText(action.name, 100)}</code>
        </strong>
        {action.description !== undefined && (
          <>
            {' '}
            <bdi class="untrusted">{shownText(action.description, 2_000)}</bdi>
          </>
        )}
      </p>
      <JsonView value={action.args} open />
      <div class="actions" role="group" aria-label={`Decision about ${shownText(action.name, 60)}`}>
        {action.allowed.map((kind) => (
          <Button
            key={kind}
            kind={kind === 'reject' ? 'danger' : undefined}
            disabled={isBusy}
            aria-pressed={decision?.kind === kind || open === kind}
            onClick={() => {
              if (kind !== 'approve') return start(kind);
              setOpen(undefined);
              onDecide({ kind }, true);
            }}
          >
            {labels[kind]}
          </Button>
        ))}
      </div>
      {open && (
        <div class="playground-decision">
          <LinesField
            label={open === 'edit' ? 'Arguments (JSON)' : open === 'reject' ? 'Reason (optional)' : 'Response'}
            problem={problem}
            class={open === 'edit' ? 'mono' : ''}
            rows={open === 'edit' ? 5 : 2}
            spellcheck={open !== 'edit'}
            value={text}
            onInput={setText}
          />
          <Button disabled={isBusy || problem !== undefined} onClick={confirm}>
            {open === 'edit' ? 'Use these arguments' : open === 'reject' ? 'Reject the action' : 'Send the response'}
          </Button>
        </div>
      )}
    </div>
  );
}
