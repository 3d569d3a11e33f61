import { deploymentOperations } from './deployments.ts';
import { listenerOperations } from './listeners.ts';
import { logOperations } from './logs.ts';
import type { Operation } from './operation.ts';
import { serviceOperations } from './service.ts';
import { tracingOperations } from './tracing.ts';
import { sourceOperations } from './sources.ts';

/** Every operation that is served. */
export const operations: readonly Operation[] = [
  ...deploymentOperations,
  ...logOperations,
  ...sourceOperations,
  ...listenerOperations,
  ...tracingOperations,
  ...serviceOperations,
];
