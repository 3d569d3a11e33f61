import { setTimeout as pause } from 'node:timers/promises';
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { SimpleChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';

const tokens = 40;
const everyMs = 50;

/** Waits for the response of the address in the message; then each of its tokens is the time at which it was made. */
class Times extends SimpleChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return 'times';
  }

  override async _call(): Promise<string> {
    return '';
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal }: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    await fetch(messages.at(-1)?.text ?? '', { signal: signal ?? null });
    for (let token = 0; token < tokens; token += 1) {
      const text = `at${Date.now()} `;
      yield new ChatGenerationChunk({ message: new AIMessageChunk(text), text });
      await runManager?.handleLLMNewToken(text);
      await pause(everyMs);
    }
  }
}

const model = new Times();

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile();
