import { useMemo } from 'preact/hooks';
import { CopyButton } from '../../parts/copy-button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import { ImageView, Markdown } from './markdown.tsx';
import { imageOf } from './images.ts';
import { readAnswer } from './interrupts.ts';
import type { ChatMessage } from './messages.ts';

const speakers = { human: 'You', ai: 'Agent', tool: 'Tool', system: 'System', other: 'Message' } as const;

interface MessageProps {
  message: ChatMessage;
  /** It is being written. */
  isStreaming: boolean;
}

/** One message of a chat. */
export function Message({ message, isStreaming }: MessageProps) {
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
    <li class={`playground-message playground-${role}`}>
      <div class="playground-message-head">
        <span class="playground-speaker">
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
