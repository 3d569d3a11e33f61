import { describe, expect, test } from 'vitest';
import { openApiDocument as agentServer } from '../../../src/services/agent/api/document.ts';
import { operations as agentServerOperations } from '../../../src/services/agent/api/operations.ts';
import { examples as agentServerExamples } from '../../../src/services/agent/api/examples.ts';
import { openApiDocument as controlService } from '../../../src/services/control/api/document.ts';
import { operations as controlServiceOperations } from '../../../src/services/control/api/operations.ts';
import { examples as controlServiceExamples } from '../../../src/services/control/api/examples.ts';
import { callsOf, compileClient } from './generated-client.ts';
import { lintFindings } from './public-linter.ts';

/** Findings of the linter that are true and wanted. */
const wanted = {
  'control service': [
    // Nothing can be wrong with these requests.
    'operation-4xx-response #/paths/~1ok/get/responses',
    'operation-4xx-response #/paths/~1info/get/responses',
    'operation-4xx-response #/paths/~1openapi.json/get/responses',
    'operation-4xx-response #/paths/~1docs/get/responses',
  ],
  'agent server': [
    // Ids are UUIDs.
    'no-ambiguous-paths #/paths/~1runs~1crons~1{cron_id}',
    // The protocol has them, and this server refuses them always.
    'operation-2xx-response #/paths/~1mcp/get/responses',
    'operation-2xx-response #/paths/~1mcp/delete/responses',
    // It becomes a WebSocket.
    'operation-2xx-response #/paths/~1threads~1{thread_id}~1stream~1events/get/responses',
  ],
};

describe.each([
  {
    service: 'control service',
    known: wanted['control service'],
    document: controlService('contract'),
    operations: controlServiceOperations,
    examples: controlServiceExamples,
  },
  {
    service: 'agent server',
    known: wanted['agent server'],
    document: agentServer(),
    operations: agentServerOperations,
    examples: agentServerExamples,
  },
])('the document of the $service', ({ known, document, operations, examples }) => {
  test('passes a public linter, its examples included', async () => {
    expect((await lintFindings(document)).toSorted()).toEqual(known.toSorted());
  });

  test('has an example of every JSON body, which the service accepts, and no other', () => {
    const bodies = operations.flatMap(({ id, body }) =>
      body && 'schema' in body ? [{ id, schema: body.schema }] : [],
    );
    expect(Object.keys(examples).toSorted()).toEqual(bodies.map(({ id }) => id).toSorted());
    const refused = bodies.filter(({ id, schema }) => !schema.safeParse(examples[id]).success);
    expect(refused.map(({ id }) => id)).toEqual([]);
  });

  test('makes a client that compiles against all operations', async () => {
    expect(await compileClient(document, callsOf(document))).toBe('');
  });

  test('makes a client that refuses a field of a wrong type', async () => {
    const program = callsOf(document).replace(/"metadata":\{[^}]*\}|"name":"[^"]*"/, '"metadata":1,"name":1');
    expect(await compileClient(document, program)).toContain('error TS');
  });
});
