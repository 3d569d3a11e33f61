import type { AgentServerClient } from '../../client/agent.ts';
import type { Assistant } from '../../contract/agent/assistant.ts';
import { ifFound } from '../../contract/service-error.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { isObject } from '../../kit/json-object.ts';
import { fromJson } from '../../kit/json-text.ts';
import { CommandRefused, exitCodes, refuseUsage, type ExitCode } from '../problems.ts';
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
    return Promise.resolve(refuseUsage(usage(isGivenTwice ? ', not both' : ''), terminal));
  }
  return withDeployment(
    invocation,
    terminal,
    async ({ agentOf, signal }, deployment) => {
      // The only word is the name: the question was forgotten.
      if (name === undefined && question === deployment.name) return refuseUsage(usage(), terminal);
      const agent = await agentOf(deployment);
      const isWaiting = thread !== undefined && (await waitsForPerson(agent, thread, deployment.name));
      const assistant = await assistantOf(agent, invocation.options['assistant']);
      const given = writtenInput === undefined ? undefined : fromJson(writtenInput);
      const input = given === undefined && !isWaiting ? await inputOf(question ?? '', assistant, agent) : given;
      const request = {
        ...(isWaiting ? { command: { resume: given === undefined ? question : given } } : { input }),
        assistant_id: assistant.assistant_id,
        stream_mode: [...answerModes],
        on_disconnect: 'cancel' as const,
      };
      const threadId = thread ?? (await agent.createThread({}, { signal })).thread_id;
      const answer = new RunAnswer(isObject(input) && !isWaiting ? Object.keys(input) : []);
      let isCancelled = false;
      try {
        for await (const event of agent.streamRun(request, threadId, { signal })) terminal.write(answer.read(event));
        if (answer.text === '' && answer.error === undefined) terminal.write(answer.whole);
      } catch (error) {
        isCancelled = signal.aborted;
        if (!isCancelled) throw error;
        answer.error = { error: 'Cancelled', message: 'the command was stopped' };
      } finally {
        terminal.endText();
        printEnd(
          answer,
          { isCancelled, goesOn: `landfall ask ${deployment.name} --thread ${threadId} "…"`, threadId },
          terminal,
        );
      }
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

const usage = (more = ''): string => `Give a question or --input${more}: landfall ask support "Hello".`;

/** Says how the run ended, and how its thread goes on: also where its stream broke. */
function printEnd(
  { question, error }: RunAnswer,
  { isCancelled, goesOn, threadId }: { isCancelled: boolean; goesOn: string; threadId: string },
  terminal: Terminal,
): void {
  if (question !== undefined) terminal.print(`The agent waits for a person: ${asLine(question)}`);
  if (isCancelled) terminal.complain('The run was cancelled.');
  else if (error) terminal.complain(`The run failed: ${asLine(`${error.error}: ${error.message}`)}`);
  terminal.complain(`Thread ${threadId}; ${question === undefined ? 'go on' : 'answer'} with: ${goesOn}`);
}

/** Whether an interrupt of this thread has no answer yet. @throws CommandRefused where there is no such thread */
async function waitsForPerson(agent: AgentServerClient, id: string, name: string): Promise<boolean> {
  const thread = await ifFound(agent.getThread(id));
  if (!thread) throw new CommandRefused(`The agent has no thread ${id}.`, `landfall threads ${name} lists them.`);
  return Object.values(thread.interrupts ?? {}).some((each) => Array.isArray(each) && each.length > 0);
}

/** The assistant of this name, graph or id; without one the only graph's default. @throws CommandRefused */
async function assistantOf(agent: AgentServerClient, written: string | undefined): Promise<Assistant> {
  const assistants = await agent.searchAssistants({ limit: 1000 });
  const isDefault = ({ metadata }: Assistant): boolean => metadata?.['created_by'] === 'system';
  const defaults = assistants.filter(isDefault);
  if (written === undefined) {
    const [only, ...more] = defaults.length > 0 ? defaults : assistants;
    if (only && more.length === 0) return only;
    if (!only)
      throw new CommandRefused('The agent has no graph.', 'Name one in its langgraph.json, and deploy it again.');
    const graphs = [...new Set([only, ...more].map(({ graph_id }) => graph_id))].join(', ');
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
