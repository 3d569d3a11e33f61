import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { SimpleChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';

/** Answers a question by rule, word by word, as a model would stream it: no key, no network, the same every time. */
export class ScriptedModel extends SimpleChatModel {
  readonly #answer: (question: string) => string;

  constructor(answer: (question: string) => string) {
    super({});
    this.#answer = answer;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override async _call(messages: BaseMessage[]): Promise<string> {
    return this.#answer(messages.at(-1)?.text ?? '');
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const word of (await this._call(messages)).split(/(?<= )/)) {
      yield new ChatGenerationChunk({ message: new AIMessageChunk(word), text: word });
      await runManager?.handleLLMNewToken(word);
    }
  }
}
