import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Message } from './message.tsx';
import type { ChatMessage } from './messages.ts';

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
        <ol>
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
