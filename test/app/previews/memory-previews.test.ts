import { describe } from 'vitest';
import { MemoryPreviews } from './memory-previews.ts';
import { previewStoreContract, type OpenedPreviews } from './preview-store.contract.ts';

describe('previews in memory', () => {
  previewStoreContract(async () => {
    let now = 0;
    const jobs: OpenedPreviews['jobs'] = [];
    const send = (name: string, key: object, at: number) =>
      void jobs.push({ name, key: Object.values(key).join('/'), at });
    return { previews: new MemoryPreviews({ now: () => now, send }), jobs, now: () => now, setNow: (to) => (now = to) };
  });
});
