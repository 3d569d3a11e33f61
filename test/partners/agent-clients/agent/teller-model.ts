import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import type { BaseMessage } from '@langchain/core/messages';
import type { ChatGenerationChunk } from '@langchain/core/outputs';
import { FakeListChatModel } from '@langchain/core/utils/testing';

/** Says its words letter by letter. `until` and an address in the message: it goes on after the first once that answers. */
export class TellerModel extends FakeListChatModel {
  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const [, gate] = /until (http:\S+)/.exec(messages.at(-1)?.text ?? '') ?? [];
    let said = 0;
    for await (const letter of super._streamResponseChunks(messages, options, run)) {
      if (gate !== undefined && said === 1) await fetch(gate, { signal: options.signal ?? null });
      said += 1;
      yield letter;
    }
  }
}
