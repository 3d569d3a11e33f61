import type { AgentServerClient } from '../../client/agent.ts';
import type { Assistant } from '../../contract/agent/assistant.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { isObject } from '../../kit/json-object.ts';
import { fromJson } from '../../kit/json-text.ts';
import { CommandRefused, exitCodes, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { answerModes, RunAnswer } from './run-answer.ts';
import { questionInput } from './question-input.ts';
import { type Invocation, withDeployment } from './service-session.ts';

/** Asks the agent of a deployment one question, and prints its answer as it comes. */
export function ask(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { input: writtenInput, thread } = invocation.options;
  const [first, second] = invocation.args;
  // With an input there is no question, so that the only word is the name.
  const [name, question] = writtenInput !== undefined || second !== undefined ? [first, second] : [undefined, first];
  const isGivenTwice = writtenInput !== undefined && question !== undefined;
  if (isGivenTwice || (writtenInput === undefined && question === undefined)) {
    terminal.complain(`Give a question or --input${isGivenTwice ? ', not both' : ''}: landfall ask support "Hello".`);
    return Promise.resolve(exitCodes.wrongUsage);
  }
  return withDeployment(
    invocation,
    terminal,
    async ({ agentOf, signal }, deployment) => {
      const agent = await agentOf(deployment);
      const assistant = await assistantOf(agent, invocation.options['assistant']);
      const input =
        writtenInput === undefined ? await inputOf(question ?? '', assistant, agent) : fromJson(writtenInput);
      const threadId = thread ?? (await agent.createThread({}, { signal })).thread_id;
      const answer = new RunAnswer(isObject(input) ? Object.keys(input) : []);
      const request = { assistant_id: assistant.assistant_id, input, stream_mode: [...answerModes] };
      for await (const event of agent.streamRun(request, threadId, { signal })) terminal.write(answer.read(event));
      if (answer.text === '' && answer.error === undefined) terminal.write(answer.whole);
      terminal.endText();
      if (answer.question !== undefined) terminal.print(`The agent waits for a person: ${asLine(answer.question)}`);
      if (answer.error)
        terminal.complain(`The run failed: ${asLine(`${answer.error.error}: ${answer.error.message}`)}`);
      terminal.complain(`Thread ${threadId}; go on with: landfall ask ${deployment.name} --thread ${threadId} "…"`);
      terminal.conclude({
        thread_id: threadId,
        run_id: answer.runId ?? null,
        text: answer.error ? null : answer.whole,
        waits_for: answer.question ?? null,
        error: answer.error ? { error: answer.error.error, message: answer.error.message } : null,
        values: answer.values ?? null,
      });
      return answer.error ? exitCodes.fails : exitCodes.passes;
    },
    { name },
  );
}

/** The assistant of this name, graph or id; without one the only graph's default. @throws CommandRefused */
async function assistantOf(agent: AgentServerClient, written: string | undefined): Promise<Assistant> {
  const assistants = await agent.searchAssistants({ limit: 1000 });
  const isDefault = ({ metadata }: Assistant): boolean => metadata?.['created_by'] === 'system';
  const defaults = assistants.filter(isDefault);
  if (written === undefined) {
    const [only, ...more] = defaults.length > 0 ? defaults : assistants;
    if (only && more.length === 0) return only;
    const graphs = defaults.map(({ graph_id }) => graph_id).join(', ');
    throw new CommandRefused('The agent has more than one graph.', `Choose one with --assistant: ${graphs}.`);
  }
  const found =
    assistants.find(({ assistant_id }) => assistant_id === written) ??
    defaults.find(({ graph_id }) => graph_id === written) ??
    assistants.find(({ name }) => name === written);
  if (found) return found;
  const names = assistants.flatMap(({ graph_id, name: own }) => [graph_id, ...(own ? [own] : [])]);
  const meant = didYouMean(written, names);
  const advice = meant === undefined ? `It has: ${[...new Set(names)].join(', ')}.` : `Did you mean ${meant}?`;
  throw new CommandRefused(`The agent has no assistant ${written}.`, advice);
}

/** The question as the input of a graph. @throws CommandRefused where the graph has no place for one */
async function inputOf(
  question: string,
  { assistant_id, graph_id }: Assistant,
  agent: AgentServerClient,
): Promise<unknown> {
  const made = questionInput(question, await agent.readSchemas(assistant_id));
  if (made.ok) return made.input;
  throw new CommandRefused(
    `The graph ${graph_id} takes no messages, and its input has no single text.`,
    `Give its fields (${made.fields.join(', ')}) as --input JSON.`,
  );
}
