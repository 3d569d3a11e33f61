// What CopilotKit and other AG-UI clients do with an agent. In JavaScript, because its packages are installed by the run.
import { randomUUID } from 'node:crypto';
import { LangGraphAgent } from '@ag-ui/langgraph';
import { expectSame, waitUntilSame, works } from '../clients/case.ts';
import { startGate } from '../clients/gate.ts';

const agentOf = ({ url, apiKey }, graphId = 'helper') => {
  const options = { deploymentUrl: url, graphId, emitInterruptOutcome: true };
  const agent = new LangGraphAgent(apiKey === null ? options : { ...options, langsmithApiKey: apiKey });
  agent.threadId = randomUUID();
  return agent;
};

/** Runs the agent with one more message, if any; returns the events. */
async function run(agent, content, parameters = {}) {
  if (content !== undefined) agent.addMessage({ id: randomUUID(), role: 'user', content });
  const events = [];
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
  return events;
}

const typesOf = (events) => [...new Set(events.map(({ type }) => type))];

const lastOf = (agent, role) => agent.messages.findLast((message) => message.role === role)?.content;

const features = {
  async chat(server) {
    const agent = agentOf(server);
    const events = await run(agent, 'hi');
    const words = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta);
    expectSame(words, ['Good ', 'day ', 'to ', 'you']);
    expectSame([events[0].type, events.at(-1).type], ['RUN_STARTED', 'RUN_FINISHED']);
    await run(agent, 'hi again');
    expectSame(agent.messages.length, 4);
  },
  async tools(server) {
    const agent = agentOf(server);
    const types = typesOf(await run(agent, 'the weather'));
    const expected = ['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'];
    expectSame(
      expected.filter((type) => types.includes(type)),
      expected,
    );
    expectSame(lastOf(agent, 'assistant'), 'I heard: It is sunny in Paris');
  },
  async 'an interrupt and `resume`'(server) {
    const agent = agentOf(server);
    const { outcome } = (await run(agent, 'book')).at(-1);
    expectSame([outcome?.type, outcome?.interrupts.length], ['interrupt', 1]);
    const payload = { decisions: [{ type: 'approve' }] };
    await run(agent, undefined, { resume: [{ interruptId: outcome.interrupts[0].id, status: 'resolved', payload }] });
    expectSame(lastOf(agent, 'assistant'), 'I heard: A room in Paris is booked');
  },
  async 'an interrupt and `forwardedProps.command`'(server) {
    const agent = agentOf(server);
    const events = await run(agent, 'book');
    expectSame(events.find(({ type }) => type === 'CUSTOM')?.name, 'on_interrupt');
    const command = { resume: { decisions: [{ type: 'reject' }] } };
    await run(agent, undefined, { forwardedProps: { command } });
    expectSame(lastOf(agent, 'assistant'), 'I heard: Nothing is booked');
  },
  async regenerate(server) {
    const agent = agentOf(server);
    await run(agent, 'hi');
    await run(agent, 'and again');
    const [first, answer, second, former] = agent.messages;
    // An application that shows answers under ids of its own, and asks for the last one again.
    agent.setMessages([first, { ...answer, id: randomUUID() }, second]);
    const events = await run(agent);
    expectSame(events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').length, 4);
    const { values } = await agent.client.threads.getState(agent.threadId);
    expectSame(
      values.messages.map(({ id }) => id),
      [first.id, answer.id, second.id, former.id],
    );
  },
  async 'stop: the run is interrupted'(server) {
    const agent = agentOf(server);
    const { runs } = agent.client;
    const gate = await startGate();
    agent.addMessage({ id: randomUUID(), role: 'user', content: `hi until ${gate.url}` });
    // The client objects to a text that has no end, whatever the server.
    const stopped = agent
      .runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() })
      .catch((error) => expectSame(error.message.startsWith("Cannot send 'RUN_FINISHED'"), true));
    await stopped;
    await waitUntilSame(async () => (await runs.list(agent.threadId))[0]?.status, 'interrupted');
    await gate[Symbol.asyncDispose]();
  },
  async '`getCapabilities`'(server) {
    const { identity } = await agentOf(server).getCapabilities();
    expectSame(typeof identity, 'object');
  },
};

export const agUiCases = Object.entries(features).map(([feature, use]) => ({
  client: '@ag-ui/langgraph',
  version: '0.0.43',
  feature,
  maxWaitMs: 200_000,
  async run(server) {
    await use(server);
    return works;
  },
}));
