import { describeInterface } from '../../openapi/document.ts';
import type { OpenApiDocument } from '../../openapi/document.ts';
import { API_VERSION } from '../version.ts';
import { schemas } from './components.ts';
import { queryDefaults } from './defaults.ts';
import { commonRefusals, errorAnswers } from './errors.ts';
import { operations } from './operations.ts';
import { headerParameters, pathParameters, queryNotes } from './parameters.ts';

/** The title of the document. */
export const title = 'Landfall agent server';

/** Builds the OpenAPI document from the schemas that validate requests. */
export function openApiDocument(): OpenApiDocument {
  return describeInterface(operations, {
    title,
    version: API_VERSION,
    description: [
      'Runs the graphs of a deployment: assistants, threads, runs, crons, a store, and the protocols of agents and models.',
      'Refusals have one field, `detail`: a sentence, or at a 422 a list of the fields that are wrong.',
      'Fields that are not known are passed over. The paths below `/threads/{thread_id}/runs` are reached by `/thread/{thread_id}/runs` as well.',
    ],
    schemas,
    headers: headerParameters,
    pathParts: pathParameters,
    queryNotes,
    queryDefaults,
    refusals: errorAnswers,
    common: commonRefusals,
    securitySchemes: {
      'API Key': {
        type: 'apiKey',
        in: 'header',
        name: 'X-Api-Key',
        description: 'A key of the deployment’s owner. A local server may not require one.',
      },
    },
    security: [{ 'API Key': [] }, {}],
  });
}
