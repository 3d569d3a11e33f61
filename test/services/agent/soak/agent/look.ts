import { existsSync, readdirSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Annotation, StateGraph } from '@langchain/langgraph';

setFlagsFromString('--expose-gc');
const gc: unknown = runInNewContext('gc');
if (typeof gc !== 'function') throw new Error('The garbage can not be collected.');
const DESCRIPTORS = '/proc/self/fd';

/** Reports what the process still holds after garbage collection; the agent's code runs inside it. */
export const look = new StateGraph(Annotation.Root({ held: Annotation<object> }))
  .addNode('look', async () => {
    for (let round = 0; round < 4; round += 1) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const { heapUsed, external, rss } = process.memoryUsage();
    const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const descriptors = existsSync(DESCRIPTORS) ? readdirSync(DESCRIPTORS).length : 0;
    return { held: { memory: heapUsed + external, rss, sockets, descriptors } };
  })
  .addEdge('__start__', 'look')
  .addEdge('look', '__end__')
  .compile();
