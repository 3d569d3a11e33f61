// A chat by `useStream` of @langchain/react.
import { createElement } from 'react';
import { useChannel, useMessageMetadata, useStream, useSubmissionQueue } from '@langchain/react';
import { Chat, errorOf, options, rememberThread, render, stateOf, tools, valuesOf } from './chat.mjs';

render(() => {
  const stream = useStream({ ...options, tools, onThreadId: rememberThread });
  const custom = useChannel(stream, ['custom']);
  const queue = useSubmissionQueue(stream);
  const forkFrom = useMessageMetadata(stream, stream.messages.at(-1)?.id)?.parentCheckpointId;
  return createElement(Chat, {
    parts: {
      state: stateOf(stream),
      thread: stream.threadId,
      messages: stream.messages.map(({ type, text }) => `${type}: ${text}`),
      values: valuesOf(stream),
      tools: stream.toolCalls.map(({ name, args, status, output }) => ({ name, args, status, output })),
      interrupts: stream.interrupts.map(({ value }) => value),
      custom: custom.map(({ params }) => params.data.payload),
      subgraphs: [...stream.subgraphsByNode.keys()],
      queue: queue.size,
      canRetry: forkFrom !== undefined,
      error: errorOf(stream),
    },
    actions: {
      send: (input) => stream.submit(input),
      enqueue: (input) => stream.submit(input, { multitaskStrategy: 'enqueue' }),
      retry: () => stream.submit(null, { forkFrom }),
      answer: (response) => stream.respond(response),
      stop: () => stream.stop(),
    },
  });
});
