import * as fc from 'fast-check';
import { anyFault, faultKinds, type Fault } from '../simulation/faults.ts';
import type { Cut } from '../simulation/model-process.ts';
import { PreviewWorld, type PreviewCode, type WorldSetting } from './preview-world.ts';

/** When the copies of a delivery arrive (ms after what happened): none is lost, several are doubled and reordered. */
type Arrivals = readonly number[];

/** One thing that happens in a history, `after` ms after the one before. */
export type PreviewCommand = { after: number } & (
  | { do: 'open'; pull: number; isFork: boolean; arrive: Arrivals }
  | { do: 'push' | 'close' | 'reopen' | 'label' | 'unlabel'; pull: number; arrive: Arrivals }
  /** A person approves the head, or the commit before it. */
  | { do: 'approve'; pull: number; isOutdated: boolean; arrive: Arrivals }
  | { do: 'uninstall'; arrive: Arrivals }
  | { do: 'leave-file' }
  /** The file gives previews another name. */
  | { do: 'rename'; base: string }
  | { do: 'kill'; process: number; cut: Cut; restartAfter: number }
  | { do: 'fault'; fault: Fault }
);

export interface PreviewHistory {
  setting: WorldSetting;
  commands: readonly PreviewCommand[];
}

/** How often previews are swept (ms), and how long a history goes on after its last command. */
const sweepMs = 5 * 60_000;
const restMs = 60 * 60_000;

/** Plays a history until all is at rest. */
export async function playPreviews({ setting, commands }: PreviewHistory, code: PreviewCode): Promise<PreviewWorld> {
  const world = await PreviewWorld.open(setting, code);
  let at = 0;
  for (const command of commands) {
    at += command.after;
    world.clock.after(at, () => carryOut(world, command));
  }
  for (let sweep = 0; sweep < at + restMs; sweep += sweepMs) {
    world.clock.after(sweep, () => world.jobs.send('sweep', String(sweep)));
  }
  await world.clock.run(world.clock.now() + at + restMs);
  return world;
}

const shaOf = (number: number, count: number): string => `${number}${String(count).padStart(2, '0')}`.padEnd(40, 'a');

function carryOut(world: PreviewWorld, command: PreviewCommand): void {
  const now = world.clock.now();
  switch (command.do) {
    case 'leave-file':
      world.isOutOfFile = true;
      return;
    case 'rename':
      world.base = command.base;
      return;
    case 'uninstall':
      world.uninstalledAt ??= now;
      for (const ms of command.arrive) world.clock.after(ms, () => world.jobs.send('uninstall', `${ms}`));
      return;
    case 'kill': {
      const victim = world.alive[command.process % Math.max(1, world.alive.length)];
      if (!victim) return;
      const giveBack = victim.onDeath;
      victim.onDeath = () => {
        giveBack();
        world.clock.after(command.restartAfter, () => world.start(`${victim.name}'`));
      };
      return victim.cutAt(command.cut);
    }
    case 'fault':
      return world.faults.lay(command.fault);
    case 'open':
      if (world.pulls.has(command.pull)) return;
      world.open(command.pull, command.isFork, shaOf(command.pull, 0));
      return world.deliver(command.pull, command.arrive);
    default:
      return change(world, command);
  }
}

type Change = Extract<PreviewCommand, { do: 'push' | 'close' | 'reopen' | 'label' | 'unlabel' | 'approve' }>;

function change(world: PreviewWorld, command: Change): void {
  const pull = world.pulls.get(command.pull);
  if (!pull) return;
  const { state } = pull;
  switch (command.do) {
    case 'approve': {
      const commit = command.isOutdated ? (pull.pushed.at(-2) ?? state.headSha) : state.headSha;
      pull.approved.add(commit);
      const job = `${command.pull} ${commit}`;
      for (const ms of command.arrive) world.clock.after(ms, () => world.jobs.send('approve', job));
      return;
    }
    case 'push':
      state.headSha = shaOf(command.pull, pull.pushed.length);
      pull.pushed.push(state.headSha);
      break;
    case 'close':
    case 'reopen':
      if (state.isOpen === (command.do === 'reopen')) return;
      state.isOpen = !state.isOpen;
      if (state.isOpen) pull.closed.push({ from: pull.closedAt, until: world.clock.now() });
      pull.closedAt = state.isOpen ? Infinity : world.clock.now();
      break;
    case 'label':
    case 'unlabel':
      state.labels = command.do === 'label' ? ['preview'] : [];
  }
  world.deliver(command.pull, command.arrive);
}

const arrive = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.integer({ min: 0, max: 2_000 })) },
  { weight: 3, arbitrary: fc.array(fc.integer({ min: 0, max: 240_000 }), { maxLength: 3 }) },
);
const after = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 8_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 90_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40 * 60_000 }) },
);
const pull = fc.integer({ min: 1, max: 3 });
const operations = ['createDeployment', 'patchDeployment', 'deleteDeployment', 'want', 'save', 'looked', 'startRun'];
const cut: fc.Arbitrary<Cut> = fc.oneof(
  fc.record({ nth: fc.integer({ min: 1, max: 40 }), phase: fc.constantFrom('before', 'after') }),
  fc.record({
    nth: fc.integer({ min: 1, max: 3 }),
    phase: fc.constantFrom('before', 'after'),
    operation: fc.constantFrom(...operations),
  }),
);
const fault: fc.Arbitrary<Fault> = fc.oneof(
  anyFault,
  fc.record({
    party: fc.constant('control'),
    operation: fc.constantFrom('createDeployment', 'patchDeployment', 'deleteDeployment'),
    nth: fc.integer({ min: 1, max: 2 }),
    kind: fc.constantFrom(...faultKinds),
  }),
);

const command: fc.Arbitrary<PreviewCommand> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ after, do: fc.constant('open'), pull, isFork: fc.nat(3).map((n) => n === 0), arrive }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      after,
      do: fc.constantFrom('push', 'push', 'close', 'close', 'reopen', 'label', 'unlabel'),
      pull,
      arrive,
    }),
  },
  { weight: 3, arbitrary: fc.record({ after, do: fc.constant('approve'), pull, isOutdated: fc.boolean(), arrive }) },
  { weight: 1, arbitrary: fc.record({ after, do: fc.constant('leave-file') }) },
  { weight: 1, arbitrary: fc.record({ after, do: fc.constant('rename'), base: fc.constantFrom('one', 'two') }) },
  { weight: 1, arbitrary: fc.record({ after, do: fc.constant('uninstall'), arrive }) },
  {
    weight: 4,
    arbitrary: fc.record({
      after,
      do: fc.constant('kill'),
      process: fc.nat(1),
      cut,
      restartAfter: fc.integer({ min: 100, max: 60_000 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ after, do: fc.constant('fault'), fault }) },
);

const setting: fc.Arbitrary<WorldSetting> = fc.record({
  when: fc.constantFrom('always', 'always', 'command', '{ label: preview }'),
  expiresAfter: fc.constantFrom('7d', '7d', '20m'),
  max: fc.constantFrom(10, 10, 1),
  copies: fc.integer({ min: 1, max: 2 }),
  honoursKeys: fc.boolean(),
  pinsCommits: fc.boolean(),
  seed: fc.nat({ max: 999_999 }),
});

/** Histories of up to `maxCommands` commands; fast-check shrinks a failing one. */
export const previewHistories = (maxCommands: number): fc.Arbitrary<PreviewHistory> =>
  fc.record({ setting, commands: fc.array(command, { minLength: 2, maxLength: maxCommands }) });
