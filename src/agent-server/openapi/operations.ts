import { assistantOperations } from './assistants.ts';
import { cronOperations } from './crons.ts';
import type { Operation } from './operation.ts';
import { protocolOperations } from './protocols.ts';
import { runOperations } from './runs.ts';
import { storeOperations } from './store.ts';
import { systemOperations } from './system.ts';
import { threadOperations } from './threads.ts';

/** Every operation that is served. */
export const operations: readonly Operation[] = [
  ...assistantOperations,
  ...threadOperations,
  ...runOperations,
  ...cronOperations,
  ...storeOperations,
  ...protocolOperations,
  ...systemOperations,
];
