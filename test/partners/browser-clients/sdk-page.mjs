// A chat by `useStream` of @langchain/langgraph-sdk/react, which calls the API of runs.
import { createElement, useState } from 'react';
import { useStream } from '@langchain/langgraph-sdk/react';
import { Chat, errorOf, options, rememberThread, render, stateOf, tools, valuesOf } from './chat.mjs';

const textOf = (content) => (typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''));

render(() => {
  const [threadId, setThreadId] = useState(options.threadId ?? null);
  const [custom, setCustom] = useState([]);
  const stream = useStream({
    ...options,
    threadId,
    onThreadId: (id) => {
      rememberThread(id);
      setThreadId(id);
    },
    onCustomEvent: (event) => setCustom((before) => [...before, event]),
    tools,
    reconnectOnMount: true,
    fetchStateHistory: true,
  });
  const last = stream.messages.at(-1);
  const checkpoint = last && stream.getMessagesMetadata(last)?.firstSeenState?.parent_checkpoint;
  return createElement(Chat, {
    parts: {
      state: stateOf(stream),
      thread: threadId,
      messages: stream.messages.map(({ type, content }) => `${type}: ${textOf(content)}`),
      values: valuesOf(stream),
      tools: stream.toolCalls.map(({ call, state, result }) => ({
        name: call.name,
        args: call.args,
        status: state === 'completed' ? 'finished' : state,
        output: result?.content,
      })),
      interrupts: stream.interrupts.map(({ value }) => value),
      custom,
      canRetry: checkpoint != null,
      error: errorOf(stream),
    },
    actions: {
      send: (input) => stream.submit(input, { streamSubgraphs: true }),
      retry: () => stream.submit(undefined, { checkpoint }),
      answer: (resume) => stream.submit(undefined, { command: { resume } }),
      stop: () => stream.stop(),
    },
  });
});
