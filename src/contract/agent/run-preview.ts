import { cutText } from '../../kit/plain-text.ts';
import { isObject } from '../../kit/json-object.ts';

const maxPreviewLength = 200;
/** How much of a value is read for its preview: values are large, previews short. */
const maxReadLength = 2_000;

/** The input of a run as one line: its last message, its only field, or its JSON. Undefined where there is none. */
export const inputPreview = (input: unknown): string | undefined => oneLine(gist(input));

/** The output of a run as one line: what it asks a person where it waits for one, else as an input's. */
export function outputPreview(output: unknown): string | undefined {
  const asked = isObject(output) ? output['__interrupt__'] : undefined;
  const [first]: unknown[] = Array.isArray(asked) ? asked : [];
  return oneLine(gist(isObject(first) && 'value' in first ? first['value'] : output));
}

/** The text of a message's content: itself, or that of its parts; undefined where it has none. */
function contentText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part: unknown) =>
    typeof part === 'string' ? [part] : isObject(part) && typeof part['text'] === 'string' ? [part['text']] : [],
  );
  return texts.length > 0 ? texts.join(' ') : undefined;
}

function gist(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  if (isObject(value)) {
    const messages = value['messages'];
    // Messages without a text call tools: the last one that says something tells more.
    const said = (Array.isArray(messages) ? messages : isObject(messages) ? [messages] : [])
      .map((message: unknown) => (isObject(message) ? contentText(message['content']) : contentText(message)))
      .findLast((text) => text !== undefined && text.trim() !== '');
    if (said !== undefined) return said;
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
