import type { AgentServer } from '../../src/contract/agent/service.ts';
import type { Prepared } from './progress.ts';

/**
 * Wraps the agent so that threads and assistants get ids that were chosen and stored beforehand: another process can
 * remove them if this one ends first.
 */
export function withChosenIds(agent: AgentServer, { threadId, assistantId }: Prepared): AgentServer {
  return {
    ...allOf(agent),
    createThread: (request, options) =>
      agent.createThread({ ...request, thread_id: threadId, if_exists: 'do_nothing' }, options),
    createAssistant: (request, options) =>
      agent.createAssistant(
        { ...request, ...(assistantId ? { assistant_id: assistantId, if_exists: 'do_nothing' } : {}) },
        options,
      ),
  };
}

/** An agent server may be an object of a class, whose methods no spread would find. */
function allOf(agent: AgentServer): AgentServer {
  return {
    ok: (...given) => agent.ok(...given),
    info: (...given) => agent.info(...given),
    createAssistant: (...given) => agent.createAssistant(...given),
    getAssistant: (...given) => agent.getAssistant(...given),
    searchAssistants: (...given) => agent.searchAssistants(...given),
    patchAssistant: (...given) => agent.patchAssistant(...given),
    listAssistantVersions: (...given) => agent.listAssistantVersions(...given),
    setLatestAssistantVersion: (...given) => agent.setLatestAssistantVersion(...given),
    deleteAssistant: (...given) => agent.deleteAssistant(...given),
    createThread: (...given) => agent.createThread(...given),
    getThread: (...given) => agent.getThread(...given),
    deleteThread: (...given) => agent.deleteThread(...given),
    getThreadState: (...given) => agent.getThreadState(...given),
    streamRun: (...given) => agent.streamRun(...given),
    waitRun: (...given) => agent.waitRun(...given),
    createRun: (...given) => agent.createRun(...given),
    getRun: (...given) => agent.getRun(...given),
    cancelRun: (...given) => agent.cancelRun(...given),
    joinRun: (...given) => agent.joinRun(...given),
    createCron: (...given) => agent.createCron(...given),
    deleteCron: (...given) => agent.deleteCron(...given),
  };
}
