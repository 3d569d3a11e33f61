// A unit test that starts a process fails. This keeps `npm run test:unit` as quick as it says.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

for (const name of ['spawn', 'spawnSync', 'fork', 'exec', 'execSync', 'execFile', 'execFileSync'] as const) {
  Object.defineProperty(childProcess, name, {
    value: () => {
      throw new Error(`A unit test can't start a process. Name its file *.system.test.ts, or test without ${name}().`);
    },
  });
}
syncBuiltinESMExports();
