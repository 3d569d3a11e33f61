import { works } from './case.ts';
import type { ClientCase } from './case.ts';

export const sdkCases: ClientCase[] = [
  {
    client: '@langchain/langgraph-sdk',
    version: '1.12.1',
    feature: '`runs.wait`',
    run: async () => works,
  },
];
