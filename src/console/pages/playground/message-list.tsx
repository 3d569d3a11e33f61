import { useLayoutEffect, useRef, useState, useMemo } from 'preact/hooks';
import type { ChatMessage } from './messages.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { ImageView, Markdown } from './markdown.tsx';
import { imageOf } from './images.ts';
import { readAnswer } from './interrupts.ts';

interface MessageListProps {
  messages: readonly ChatMessage[];
  /** Messages that are being streamed. */
  streamed: readonly ChatMessage[];
  isBusy: boolean;
}

/** Distance from the end within which a list counts as scrolled to its end. */
const nearEndPixels = 48;

/** The messages of a thread. The list stays at the newest one until a person scrolls up. */
export function MessageList({ messages, streamed, isBusy }: MessageListProps) {
  const list = useRef<HTMLDivElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const scrollToEnd = (): void => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(() => {
    if (isAtEnd) scrollToEnd();
  });
  const readScroll = (): void => {
    const element = list.current;
    if (element) setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < nearEndPixels);
  };
  return (
    <div class="playground-chat">
      <div
        ref={list}
        class="playground-messages"
        role="log"
        aria-label="Messages"
        aria-busy={isBusy}
        tabIndex={0}
        onScroll={readScroll}
      >
        <ol class="plain stack tight">
          {/* One list, so that the open details of a message stay open when it is complete. */}
          {[...messages, ...streamed].map((message, index) => (
            <Message key={message.id} message={message} isStreaming={index >= messages.length} />
          ))}
        </ol>
      </div>
      {!isAtEnd && (
        <button
          type="button"
          class="button playground-newest"
          onClick={() => {
            setAtEnd(true);
            scrollToEnd();
          }}
        >
          Go to the newest message
        </button>
      )}
    </div>
  );
}

const speakers = { human: 'You', ai: 'Agent', tool: 'Tool', system: 'System', other: 'Message' } as const;

interface MessageProps {
  message: ChatMessage;
  /** Whether it is still being written. */
  isStreaming: boolean;
}

/** One message of a chat. */
function Message({ message, isStreaming }: MessageProps) {
  // In a long chat, only the changed message is rendered again.
  return useMemo(() => <MessageItem message={message} isStreaming={isStreaming} />, [message, isStreaming]);
}

function MessageItem({ message, isStreaming }: MessageProps) {
  const { role, name, text, toolCalls, otherParts, isError } = message;
  const speaker = `${speakers[role]}${name === undefined || role === 'tool' ? '' : ` (${shownText(name, 60)})`}`;
  const body = (
    <>
      {text !== '' && <Markdown text={text} isStreaming={isStreaming} />}
      {otherParts.map((part, index) => {
        const image = imageOf(part);
        return image ? (
          <ImageView key={`${index} ${image.url}`} image={image} alt={`Image of ${speaker}`} />
        ) : (
          <JsonView key={index} name="part" value={part} />
        );
      })}
    </>
  );
  return (
    <li class={`surface playground-message playground-${role}`}>
      <div class="row row-split">
        <span class="tag">
          <bdi>{speaker}</bdi>
          {isStreaming && <span class="muted"> is writing …</span>}
        </span>
        {text !== '' && <CopyButton text={text} label={`Copy the message of ${speaker}`} />}
      </div>
      {role === 'tool' ? (
        <details>
          <summary>
            {isError ? 'Error' : 'Result'} of <code>{shownText(name ?? 'a tool', 80)}</code>
          </summary>
          {body}
        </details>
      ) : (
        body
      )}
      {toolCalls.map(({ id, name: tool, args }) => (
        <details key={id}>
          <summary>
            Calls <code>{shownText(tool, 80)}</code>
          </summary>
          <JsonView value={typeof args === 'string' ? readAnswer(args) : args} open />
        </details>
      ))}
    </li>
  );
}
