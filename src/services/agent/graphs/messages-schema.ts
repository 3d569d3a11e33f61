/** How the engine marks messages in its own schemas. */
export const messagesSchema = { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' } as const;
