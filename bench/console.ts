// What the console costs in a browser: bytes, the first view of 1,000 deployments, the log of a revision, and the
// playground beside a public chat page.
import { benchFolder } from './bench-postgres.ts';
import { startChatPage } from './chat-page.ts';
import { consoleBytes } from './console-bytes.ts';
import { consoleList } from './console-list.ts';
import { consoleLog } from './console-log.ts';
import { consoleMemory } from './console-memory.ts';
import { openConsole } from './console-service.ts';
import { consoleStream, deployTimed } from './console-stream.ts';
import type { Measured } from './figure.ts';

/** Every figure of the console, from one run of the services and of Chromium. */
export async function consoleFigures(): Promise<Measured[]> {
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const chatPage = await startChatPage(folder.path);
  if (chatPage) ending.use(chatPage);
  const bytes = await consoleBytes(chatPage);
  const bench = ending.use(await openConsole());
  const timed = await deployTimed(bench);
  return [
    ...bytes,
    ...(await consoleStream(bench, timed, chatPage)),
    // The list has copies of the only deployment.
    ...(await consoleList(bench)),
    ...(await consoleLog(bench)),
    ...(await consoleMemory(bench, timed)),
  ];
}
