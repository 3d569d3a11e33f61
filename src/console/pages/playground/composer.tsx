import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isObject } from '../../../kit/json-object.ts';
import { useForm } from '../../api/use-form.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { ConversationProps } from './conversation.tsx';
import { SchemaForm, emptyEntry, readEntry } from './schema-fields.tsx';
import { toForm } from './schema-form.ts';
import { Button } from '../../parts/button.tsx';

const takesMessages = (schema: unknown): boolean =>
  isObject(schema) && isObject(schema['properties']) && 'messages' in schema['properties'];

interface ComposerProps extends ConversationProps {
  hasChat: boolean;
  /** Whether the graph waits for an answer. Another input would drop its question. */
  isWaiting: boolean;
  /** Called when a run with the input of a form has begun. */
  onFormSent: () => void;
}

/** Starts runs: by a message for graphs that take messages, by a form for all others. */
export function Composer(props: ComposerProps) {
  const { assistantId, context, schema, session, startThread, fork, setFork, hasChat, isWaiting, onFormSent } = props;
  const isChat = takesMessages(schema) || (hasChat && !isObject(schema));
  const form = useMemo(() => toForm(schema), [schema]);
  const [mode, setMode] = useState<'chat' | 'form'>();
  const [text, setText] = useState('');
  const [entry, setEntry] = useState(() => emptyEntry(form));
  const [isSubmitted, setSubmitted] = useState(false);
  const { status, submit: runOnce } = useForm({});
  const [isConfirming, setConfirming] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setEntry(emptyEntry(form));
    setSubmitted(false);
  }, [form]);
  const shownMode = mode ?? (isChat ? 'chat' : 'form');
  const { value, problems } = readEntry(form, entry);
  const isRunning = session?.isFollowing.value ?? false;

  const input = shownMode === 'chat' ? { messages: [{ role: 'user', content: text }] } : value;
  const submit = (): void => {
    setSubmitted(true);
    if (!input || (shownMode === 'chat' && text.trim() === '')) return;
    if (isWaiting) setConfirming(true);
    else void send();
  };
  const send = async (): Promise<void> => {
    await runOnce(async () => {
      const thread = session ?? (await startThread());
      await thread.start({ assistantId, context, input, checkpoint: fork?.checkpoint });
      if (shownMode === 'form') onFormSent();
      setText('');
      setSubmitted(false);
      setFork(undefined);
    });
    box.current?.focus();
  };
  if (schema === undefined) return null;
  return (
    <>
      <form
        class="stack tight"
        aria-label="New run"
        onSubmit={(event) => {
          event.preventDefault();
          if (!status.isBusy && !isRunning) submit();
        }}
      >
        {fork && (
          <p class="notice">
            The next run continues from step {fork.number ?? ''} (<bdi>{shownText(fork.origin, 60)}</bdi>).{' '}
            <Button onClick={() => setFork(undefined)}>Continue from the newest</Button>
          </p>
        )}
        {shownMode === 'chat' ? (
          <textarea
            ref={box}
            aria-label="Message"
            placeholder="Write a message. Enter sends it, Shift+Enter starts a new line."
            rows={Math.min(8, Math.max(2, text.split('\n').length))}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
              event.preventDefault();
              event.currentTarget.form?.requestSubmit();
            }}
          />
        ) : (
          <details open={!isWaiting}>
            <summary>{isWaiting ? 'Another input instead' : 'Input'}</summary>
            <SchemaForm
              form={form}
              entry={entry}
              problems={isSubmitted ? problems : {}}
              onChange={setEntry}
              label="Input"
            />
          </details>
        )}
        {status.problem !== undefined && (
          <p class="field-error" role="alert">
            <bdi>{shownText(status.problem, 2_000)}</bdi>
          </p>
        )}
        <div class="actions">
          <Button type="submit" kind={isWaiting ? undefined : 'primary'} disabled={status.isBusy || isRunning}>
            {shownMode === 'chat' ? 'Send' : isWaiting ? 'Run with this input' : 'Run'}
          </Button>
          {isRunning && <span class="muted">A run is in progress. Wait for it to finish, or cancel it.</span>}
          {isChat && !isRunning && (
            <div class="actions end" role="group" aria-label="Input">
              {(['chat', 'form'] as const).map((each) => (
                <Button key={each} aria-pressed={shownMode === each} onClick={() => setMode(each)}>
                  {each === 'chat' ? 'Message' : 'All fields'}
                </Button>
              ))}
            </div>
          )}
        </div>
      </form>
      {isConfirming && (
        <ConfirmDialog
          title="Send without an answer?"
          action="Send anyway"
          isDangerous
          onConfirm={send}
          onClose={() => setConfirming(false)}
        >
          <p>
            The agent waits for your answer on this thread. A new input drops what it asked, which can then not be
            answered any more. To continue, close this and answer above.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
