import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { BaseMessage } from '@langchain/core/messages';
import { AIMessageChunk } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { tool } from '@langchain/core/tools';
import { Annotation, interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt';
import * as z from 'zod';

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  files: Annotation<Record<string, string>>({
    reducer: (before, more) => ({ ...before, ...more }),
    default: () => ({}),
  }),
});

/**
 * Calls the tool whose name the last message has, or answers in words. No provider, and the same each time. `after` and
 * an address in the message: it begins once that answers. `until` and an address: it goes on after the first of its
 * words once that answers.
 */
class HelperModel extends BaseChatModel {
  override _llmType(): string {
    return 'helper';
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const chunks = await Array.fromAsync(this._streamResponseChunks(messages, options));
    const message = chunks.map(({ message }) => message).reduce((whole, next) => whole.concat(next));
    return { generations: [{ text: message.text, message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const last = messages.at(-1);
    const asked = messages.findLast(({ type }) => type === 'human')?.text ?? '';
    const pass = async (gate: string | undefined): Promise<void> => {
      if (gate !== undefined) await fetch(gate, { signal: options.signal ?? null });
    };
    if (last?.type === 'human') await pass(/after (http:\S+)/.exec(asked)?.[1]);
    for (const [at, chunk] of chunksFor(messages).entries()) {
      if (at === 1 && chunk.text !== '') await pass(/until (http:\S+)/.exec(asked)?.[1]);
      const generated = new ChatGenerationChunk({ message: chunk, text: chunk.text });
      yield generated;
      await run?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk: generated });
    }
  }
}

function chunksFor(messages: BaseMessage[]): AIMessageChunk[] {
  const id = `answer-${messages.at(-1)?.id}`;
  const last = messages.at(-1);
  const name = last?.type === 'human' ? ['weather', 'book'].find((word) => last.text.includes(word)) : undefined;
  if (name !== undefined) {
    const call = { id: `call-${last?.id}`, index: 0, type: 'tool_call_chunk' } as const;
    return [
      { ...call, name, args: '' },
      { index: 0, type: 'tool_call_chunk' as const, args: '{"city":' },
      { index: 0, type: 'tool_call_chunk' as const, args: '"Paris"}' },
    ].map((chunk) => new AIMessageChunk({ id, content: '', tool_call_chunks: [chunk] }));
  }
  const words = last?.type === 'tool' ? `I heard: ${last.text}` : 'Good day to you';
  return words.split(/(?<= )/).map((word) => new AIMessageChunk({ id, content: word }));
}

const city = z.object({ city: z.string() });

const weather = tool(
  async ({ city }, config: LangGraphRunnableConfig) => {
    config.writer?.({ looking: city });
    return `It is sunny in ${city}`;
  },
  { name: 'weather', description: 'Says how the weather is', schema: city },
);

/** Waits for a person first, in the form that chat applications know. */
const book = tool(
  async ({ city }) => {
    const answer: unknown = interrupt({
      action_requests: [{ name: 'book', args: { city } }],
      review_configs: [{ action_name: 'book', allowed_decisions: ['approve', 'reject'] }],
    });
    return JSON.stringify(answer).includes('reject') ? 'Nothing is booked' : `A room in ${city} is booked`;
  },
  { name: 'book', description: 'Books a room', schema: city },
);

const model = new HelperModel({});

/** Chats, looks the weather up with a tool, and books a room with one that a person has to approve. */
export const helper = new StateGraph(State)
  .addNode('think', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tools', new ToolNode([weather, book]))
  .addEdge('__start__', 'think')
  .addConditionalEdges('think', toolsCondition, ['tools', '__end__'])
  .addEdge('tools', 'think')
  .compile();
