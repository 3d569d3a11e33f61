import type { Operation } from '../../../kit/http/operation.ts';
import { apiKeyOperations } from '../api-keys/operations.ts';
import { deploymentOperations, healthOperations } from '../deployments/operations.ts';
import { integrationOperations } from '../integrations/operations.ts';
import { listenerOperations } from '../listeners/operations.ts';
import { logOperations } from '../logs/operations.ts';
import { revisionOperations } from '../revisions/operations.ts';
import { sessionOperations } from '../sessions/operations.ts';
import { trustOperations } from '../trust/operations.ts';
import { tracingOperations } from '../tracing-projects/operations.ts';
import { uploadOperations } from '../uploads/operations.ts';
import { smokeTestOperations } from '../smoke-tests/operations.ts';
import type { Env } from './operation.ts';
import { serviceOperations } from './service-operations.ts';

/** Every operation of the control service: the routes that are served, and the OpenAPI document. */
export const operations: readonly Operation<Env>[] = [
  ...deploymentOperations,
  ...revisionOperations,
  ...smokeTestOperations,
  ...logOperations,
  ...healthOperations,
  ...uploadOperations,
  ...integrationOperations,
  ...listenerOperations,
  ...tracingOperations,
  ...apiKeyOperations,
  ...trustOperations,
  ...sessionOperations,
  ...serviceOperations,
];
