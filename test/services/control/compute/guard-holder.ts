// Holds a guard until it is killed; prints the ids of its own process and the child.
import { systemClock } from '../../../../src/kit/clock.ts';
import { startGuarded } from '../../../../src/services/control/compute/guarded-process.ts';

const started = startGuarded(
  {
    command: 'sh',
    args: ['-c', 'trap "" HUP TERM INT; sleep 600 & echo $$ $!; wait'],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    withInput: false,
    graceSeconds: 0,
  },
  systemClock,
);
started.stdout.pipe(process.stdout);
