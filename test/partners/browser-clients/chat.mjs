// What the chat pages of all libraries share.
import { createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';

/** From the address: #apiUrl=...&assistantId=...[&apiKey=...][&threadId=...][&transport=websocket] */
export const options = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

/** Keeps the thread in the address, so that a reload finds it. */
export function rememberThread(threadId) {
  history.replaceState(null, '', `#${new URLSearchParams({ ...options, threadId })}`);
}

/** Tools that the page runs for the agent. */
export const tools = [
  { tool: { name: 'place' }, execute: async ({ precise }) => (precise ? 'Paris, Rue Monge' : 'Paris') },
];

/** The state of the stream in a word. */
export const stateOf = ({ isThreadLoading, isLoading }) =>
  isThreadLoading ? 'opening' : isLoading ? 'running' : 'idle';

/** Without the messages, which have a part of their own. */
export const valuesOf = ({ values }) => ({ ...values, messages: undefined, __interrupt__: undefined });

/** The error that the page shows; empty if there is none. */
export const errorOf = ({ error }) =>
  error == null ? '' : error instanceof Error ? `${error.name}: ${error.message}` : JSON.stringify(error);

/** A text field, a button for each action with its content, and the parts as JSON. */
export function Chat({ parts, actions }) {
  const [text, setText] = useState('null');
  return [
    createElement('textarea', { key: 'text', value: text, onChange: (event) => setText(event.target.value) }),
    ...Object.entries(actions).map(([name, act]) =>
      createElement('button', { key: name, name, onClick: () => void act(JSON.parse(text)) }, name),
    ),
    ...Object.entries(parts).map(([id, part]) => createElement('p', { key: id, id }, JSON.stringify(part))),
  ];
}

/** Renders the page. */
export const render = (component) =>
  createRoot(document.body.appendChild(document.createElement('main'))).render(createElement(component));
