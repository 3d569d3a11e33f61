import { type RunError, toRunError } from '../../contract/agent/run.ts';
import { errorEvent, metadataEvent, metadataEventData, splitEventName } from '../../contract/agent/stream-event.ts';
import type { StreamEvent } from '../../contract/agent/stream-event.ts';
import { isObject } from '../../kit/json-object.ts';

/** The modes of a stream that an answer is read from. */
export const answerModes = ['messages-tuple', 'values'] as const;

/** What a run has answered so far. */
export class RunAnswer {
  runId: string | undefined;
  /** The state that it has come to. */
  values: unknown;
  error: RunError | undefined;
  /** The text of its messages. */
  text = '';
  readonly #given: ReadonlySet<string>;
  #messageId: string | undefined;

  /** @param given the fields of the input, which are no answer */
  constructor(given: Iterable<string>) {
    this.#given = new Set(given);
  }

  /** Reads an event, and returns the text that it adds. */
  read({ event, data }: StreamEvent): string {
    const { mode } = splitEventName(event);
    if (mode === metadataEvent) {
      const read = metadataEventData.safeParse(data);
      if (read.success) this.runId = read.data.run_id;
    } else if (mode === errorEvent) this.error = toRunError(data);
    else if (mode === 'values') this.values = data;
    else if (mode === 'messages' && Array.isArray(data)) return this.#add(data[0]);
    return '';
  }

  /** The answer as a whole: the text of its messages, else what the run added to its input, else its state as JSON. */
  get whole(): string {
    if (this.text !== '') return this.text;
    if (!isObject(this.values)) return this.values === undefined ? '' : JSON.stringify(this.values);
    const said = Array.isArray(this.values['messages']) ? this.values['messages'].findLast(isFromAgent) : undefined;
    if (isObject(said)) return contentText(said['content']);
    const added = Object.entries(this.values).filter(([field]) => !this.#given.has(field) && field !== interruptField);
    const texts = added.flatMap(([, value]) => (typeof value === 'string' ? [value] : []));
    const [only, ...more] = texts;
    if (added.length === 0 && this.question !== undefined) return '';
    return only !== undefined && more.length === 0 ? only : JSON.stringify(Object.fromEntries(added), undefined, 2);
  }

  /** What the run asks a person, if it waits for one. */
  get question(): string | undefined {
    const interrupts: unknown = isObject(this.values) ? this.values[interruptField] : undefined;
    const [first]: unknown[] = Array.isArray(interrupts) ? interrupts : [];
    if (first === undefined) return undefined;
    const value: unknown = isObject(first) && 'value' in first ? first['value'] : first;
    return typeof value === 'string' ? value : JSON.stringify(value);
  }

  #add(message: unknown): string {
    if (!isObject(message) || !isFromAgent(message)) return '';
    const id = typeof message['id'] === 'string' ? message['id'] : undefined;
    const added = contentText(message['content']);
    if (added === '') return '';
    // Messages of several steps stand on lines of their own.
    const isNext = this.text !== '' && id !== this.#messageId;
    this.#messageId = id;
    const shown = isNext ? `\n${added}` : added;
    this.text += shown;
    return shown;
  }
}

const interruptField = '__interrupt__';

const isFromAgent = (message: unknown): boolean =>
  isObject(message) &&
  (message['type'] === 'AIMessageChunk' || message['type'] === 'ai' || message['role'] === 'assistant');

function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) =>
      isObject(part) && typeof part['text'] === 'string' ? part['text'] : typeof part === 'string' ? part : '',
    )
    .join('');
}
