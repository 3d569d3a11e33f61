import { describe } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { baselinesContract } from './baselines.contract.ts';
import { storeContract, type OpenedStore } from './store.contract.ts';
import { start } from './requests.ts';

describe('the work in memory', () => {
  const open = async (): Promise<OpenedStore> => {
    let now = start;
    const jobs: OpenedStore['jobs'] = [];
    const store = new MemoryStore({ now: () => now, send: (name, id, at) => void jobs.push({ name, id, at }) });
    return { store, jobs, setNow: (to) => (now = to), close: async () => undefined };
  };
  storeContract(open);
  baselinesContract(open);
});
