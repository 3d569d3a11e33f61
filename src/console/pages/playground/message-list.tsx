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
  /** Those that are being written. */
  streamed: readonly ChatMessage[];
  isBusy: boolean;
}

/** How far from its end a list still counts as being there, in pixels. */
const nearEnd = 48;

/** The messages of a thread. It stays at the newest one until it is scrolled up. */
export function MessageList({ messages, streamed, isBusy }: MessageListProps) {
  const list = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const scrollToEnd = (): void => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  useLayoutEffect(() => {
    if (follows) scrollToEnd();
  });
  const noteScroll = (): void => {
    const element = list.current;
    if (element) setFollows(element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd);
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
        onScroll={noteScroll}
      >
        <ol class="plain stack tight">
          {/* One list, so that a message that is complete keeps its open parts. */}
          {[...messages, ...streamed].map((message, index) => (
            <Message key={message.id} message={message} isStreaming={index >= messages.length} />
          ))}
        </ol>
      </div>
      {!follows && (
        <button
          type="button"
          class="button playground-newest"
          onClick={() => {
            setFollows(true);
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
  /** It is being written. */
  isStreaming: boolean;
}

/** One message of a chat. */
function Message({ message, isStreaming }: MessageProps) {
  // Of a long chat, only the message that changes is rendered again.
  return useMemo(() => <MessageItem message={message} isStreaming={isStreaming} />, [message, isStreaming]);
}

function MessageItem({ message, isStreaming }: MessageProps) {
  const { role, name, text, toolCalls, others, isError } = message;
  const speaker = `${speakers[role]}${name === undefined || role === 'tool' ? '' : ` (${shownText(name, 60)})`}`;
  const body = (
    <>
      {text !== '' && <Markdown text={text} isStreaming={isStreaming} />}
      {others.map((part, index) => {
        const image = imageOf(part);
        return image ? (
          <ImageView key={`${index} ${image.address}`} image={image} alt={`Image of ${speaker}`} />
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
