import { cutText } from '../../kit/plain-text.ts';
import { isObject } from '../../kit/json-object.ts';

const maxPreviewLength = 200;
/** How much of a value is read for its preview: values are large, previews short. */
const maxReadLength = 2_000;

/** The input of a run as one line: its last message, its only field, or its JSON. Undefined if there is none. */
export const inputPreview = (input: unknown): string | undefined => oneLine(mainText(input));

/** The output of a run as one line: the question to a person if it waits for one, else like that of an input. */
export function outputPreview(output: unknown): string | undefined {
  const interrupts = isObject(output) ? output['__interrupt__'] : undefined;
  const [first]: unknown[] = Array.isArray(interrupts) ? interrupts : [];
  return oneLine(mainText(isObject(first) && 'value' in first ? first['value'] : output));
}

/** The text of a message's content, which may have parts; undefined if there is none. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part: unknown) =>
    typeof part === 'string' ? [part] : isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  );
  return texts.length > 0 ? texts.join(' ') : undefined;
}

function mainText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (isObject(value)) {
    const messages = value['messages'];
    // Skip messages without a text, which only call tools.
    const messageText = (Array.isArray(messages) ? messages : isObject(messages) ? [messages] : [])
      .map((message: unknown) => (isObject(message) ? contentText(message['content']) : contentText(message)))
      .findLast((text) => text !== undefined && text.trim() !== '');
    if (messageText !== undefined) return messageText;
    const [only, ...others] = Object.values(value);
    if (typeof only === 'string' && others.length === 0) return only;
    if (only === undefined) return undefined;
  }
  return JSON.stringify(value);
}

function oneLine(text: string | undefined): string | undefined {
  const line = text
    ?.slice(0, maxReadLength)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  return line === undefined || line === '' ? undefined : cutText(line, maxPreviewLength);
}
