import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager';
import { SimpleChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage, AIMessageChunk, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import * as z from 'zod';
import { hostile } from './hostile.ts';

const Context = z.object({
  tone: z.enum(['plain', 'warm']).default('plain').describe('How the answers sound.'),
});
const State = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<string> });

/** Streams words; at a word that is an address it waits for the response, so that a test decides when it continues. */
class Words extends SimpleChatModel {
  constructor() {
    super({});
  }

  override _llmType(): string {
    return 'words';
  }

  override async _call(messages: BaseMessage[]): Promise<string> {
    return messages.at(-1)?.text ?? '';
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal }: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const word of (await this._call(messages)).split(/(?<= )/)) {
      if (word.startsWith('http://127.0.0.1')) await fetch(word.trim(), { signal: signal ?? null });
      const text = word.startsWith('http://127.0.0.1') ? 'gate ' : word;
      yield new ChatGenerationChunk({ message: new AIMessageChunk(text), text });
      await runManager?.handleLLMNewToken(text);
    }
  }
}

const model = new Words();

const inner = new StateGraph(State)
  .addNode('classify', ({ messages }) => ({ topic: messages.at(-1)?.text.split(' ')[0] ?? '' }))
  .addNode('confirm', () => ({}))
  .addEdge(START, 'classify')
  .addEdge('classify', 'confirm')
  .addEdge('confirm', END)
  .compile();

class InkError extends Error {
  override name = 'InkError';
}

interface Decision {
  type: string;
  message?: string;
  edited_action?: { name: string; args: Record<string, unknown> };
}

/** Interrupts as the human-in-the-loop middleware of `langchain` does. */
function review({ messages }: typeof State.State) {
  const call = messages.at(-1);
  const [first] = AIMessage.isInstance(call) ? (call.tool_calls ?? []) : [];
  if (!first) return {};
  const response: { decisions: Decision[] } = interrupt({
    action_requests: [{ name: first.name, args: first.args, description: 'Deletes a file for ever.' }],
    review_configs: [{ action_name: first.name, allowed_decisions: ['approve', 'edit', 'reject'] }],
  });
  const [decision] = response.decisions;
  const content =
    decision?.type === 'approve'
      ? `deleted ${String(first.args['path'])}`
      : decision?.type === 'edit'
        ? `deleted ${String(decision.edited_action?.args['path'])}`
        : `kept: ${decision?.message ?? ''}`;
  return { messages: [new ToolMessage({ content, tool_call_id: first.id ?? '', name: first.name })] };
}

export const graph = new StateGraph(State, Context)
  .addNode('sort', inner)
  .addNode('answer', async ({ messages, topic }, { context }) => {
    const text = messages.at(-1)?.text ?? '';
    if (topic === 'fail') throw new InkError(`no ink: ${text}`);
    if (topic === 'hostile') return { messages: [new AIMessage(hostile(text))] };
    if (topic === 'delete' && messages.at(-1)?.type === 'human') {
      const args = { path: text.split(' ')[1] ?? '' };
      return { messages: [new AIMessage({ content: '', tool_calls: [{ id: 'call-1', name: 'delete_file', args }] })] };
    }
    const said = context?.tone === 'warm' ? `Dear friend, ${text}` : `You said: ${text}`;
    return { messages: [await model.invoke(said)] };
  })
  .addNode('review', review)
  .addEdge(START, 'sort')
  .addEdge('sort', 'answer')
  .addConditionalEdges(
    'answer',
    ({ messages }) => {
      const last = messages.at(-1);
      return AIMessage.isInstance(last) && (last.tool_calls ?? []).length > 0 ? 'review' : END;
    },
    ['review', END],
  )
  .addEdge('review', 'answer')
  .compile();
