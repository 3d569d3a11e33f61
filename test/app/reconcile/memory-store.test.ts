import { describe } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { storeContract, type OpenedStore } from './store.contract.ts';
import { start } from './requests.ts';

describe('the work in memory', () => {
  storeContract(async () => {
    let now = start;
    const jobs: OpenedStore['jobs'] = [];
    const store = new MemoryStore({ now: () => now, send: (name, id, at) => void jobs.push({ name, id, at }) });
    return { store, jobs, setNow: (to) => (now = to), close: async () => undefined };
  });
});
