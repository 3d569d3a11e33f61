import * as fc from 'fast-check';
import type { Arrivals, Command, History, Setting } from '../simulation/commands.ts';
import { anyFault, faultKinds, type Fault } from '../simulation/faults.ts';
import { outcomes, type Fate } from '../simulation/model-git.ts';
import { stranger } from '../simulation/model-hub.ts';
import type { Cut } from '../simulation/model-process.ts';
import type { PullChange } from '../simulation/model-pulls.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { branch, repository } from '../simulation/terms.ts';

/** What happens to pull requests and their previews. */
export type PullCommand =
  | { do: 'open'; pull: number; isFork: boolean; arrive: Arrivals }
  | { do: 'change'; pull: number; how: PullChange; fate: Fate; arrive: Arrivals }
  /** Someone comments `/preview`, with the head, the commit before it, or neither. */
  | { do: 'preview'; pull: number; names: 'head' | 'former' | 'none'; by: string; copies: number; arrive: Arrivals }
  /** A person presses Re-run on the check of the preview of the head. */
  | { do: 'prove'; pull: number; arrive: Arrivals }
  | { do: 'uninstall'; arrive: Arrivals }
  | { do: 'leave-file' }
  /** The file gives previews another name. */
  | { do: 'rename'; base: string };

export function carryOutOnPulls(simulation: Simulation, command: PullCommand): void {
  const { previewing, pulls } = simulation;
  switch (command.do) {
    case 'leave-file':
      previewing.isOutOfFile = true;
      return;
    case 'rename':
      previewing.base = command.base;
      return;
    case 'uninstall': {
      simulation.uninstall();
      const payload = { action: 'deleted', installation: { id: repository.installationId } };
      return simulation.deliver({ kind: 'event', name: 'installation', payload }, command.arrive);
    }
    case 'open':
      if (pulls.get(command.pull)) return;
      pulls.open(command.pull, command.isFork);
      return simulation.deliverPull(command.pull, 'opened', command.arrive);
    case 'change':
      return change(simulation, command);
    default:
      return request(simulation, command);
  }
}

function change(
  simulation: Simulation,
  { pull: number, how, fate, arrive }: Extract<PullCommand, { do: 'change' }>,
): void {
  const { pulls, git } = simulation;
  const action = pulls.change(number, how, fate);
  if (action === undefined) return;
  simulation.deliverPull(number, action, arrive);
  if (how !== 'merge') return;
  const merged = git.commits.get(pulls.get(number)?.state.headSha ?? '');
  git.commit(branch, { message: `Merge #${number}`, paths: ['agent.py'], fate: merged?.fate ?? 'good' });
  simulation.deliverPush(arrive);
}

function request(simulation: Simulation, command: Extract<PullCommand, { do: 'preview' | 'prove' }>): void {
  const { pull: number, arrive } = command;
  const pull = simulation.pulls.get(number);
  if (!pull) return;
  pull.requested += 1;
  const { headSha } = pull.state;
  if (command.do === 'prove') {
    const name = `Landfall preview: ${simulation.previewing.entry} (#${number})`;
    if (simulation.githubApi.check(headSha, name)) simulation.deliver({ kind: 'rerun', commit: headSha, name }, arrive);
    return;
  }
  const { names, by, copies } = command;
  const named = names === 'head' ? headSha : names === 'former' ? pull.pushed.at(-2) : undefined;
  if (named !== undefined && by !== stranger) pull.approved.add(named);
  simulation.comment({ body: named === undefined ? '/preview' : `/preview ${named}`, number, by, copies }, arrive);
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
const operations = [
  'createDeployment',
  'patchDeployment',
  'deleteDeployment',
  'want',
  'save',
  'looked',
  'startRun',
  'notify',
];
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
const fate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('good') },
  { weight: 1, arbitrary: fc.constantFrom(...outcomes) },
);
const how = fc.constantFrom<PullChange>(
  'push',
  'push',
  'push',
  'close',
  'close',
  'reopen',
  'label',
  'unlabel',
  'merge',
);

/** Someone opens a pull request. */
export const opened: fc.Arbitrary<Command> = fc.record({
  after,
  do: fc.constant('open'),
  pull,
  isFork: fc.nat(3).map((n) => n === 0),
  arrive,
});

/** What people do with pull requests, and what may go wrong meanwhile. */
export const pullCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: opened },
  { weight: 12, arbitrary: fc.record({ after, do: fc.constant('change'), pull, how, fate, arrive }) },
  {
    weight: 4,
    arbitrary: fc.record({
      after,
      do: fc.constant('preview'),
      pull,
      names: fc.constantFrom('head', 'head', 'former', 'none'),
      by: fc.constantFrom('octocat', 'octocat', stranger),
      copies: fc.constantFrom(1, 1, 2),
      arrive,
    }),
  },
  { weight: 1, arbitrary: fc.record({ after, do: fc.constant('prove'), pull, arrive }) },
  { weight: 1, arbitrary: fc.record({ after, do: fc.constant('leave-file') }) },
  { weight: 1, arbitrary: fc.record({ after, do: fc.constant('rename'), base: fc.constantFrom('one', 'two') }) },
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

const uninstall: fc.Arbitrary<Command> = fc.record({ after, do: fc.constant('uninstall'), arrive });

/** What the deploy file says of previews. */
export const previewSetting = fc.record({
  when: fc.constantFrom('always', 'always', 'always', 'command', '{ label: preview }'),
  expiresAfter: fc.constantFrom('7d', '7d', '20m'),
  max: fc.constantFrom(10, 10, 1),
});

/** A setting without a deployment that pushes are for. */
export const onlyPreviews: Setting = {
  offers: { idempotencyKeys: true, ifMatch: true, lists: true, pinsCommits: true },
  copies: 1,
  deployments: 0,
  builder: 'app',
  onFailure: 'keep',
  afterRollback: 'continue',
  smokeTests: false,
  previews: { when: 'always', expiresAfter: '7d', max: 10 },
  seed: 1,
};

const setting: fc.Arbitrary<Setting> = fc
  .record({
    previews: previewSetting,
    copies: fc.integer({ min: 1, max: 2 }),
    idempotencyKeys: fc.boolean(),
    pinsCommits: fc.boolean(),
    seed: fc.nat({ max: 999_999 }),
  })
  .map(({ idempotencyKeys, pinsCommits, ...drawn }) => ({
    ...onlyPreviews,
    ...drawn,
    offers: { ...onlyPreviews.offers, idempotencyKeys, pinsCommits },
  }));

/** Histories of pull requests alone, up to `maxCommands` commands; fast-check shrinks a failing one. */
export const previewHistories = (maxCommands: number): fc.Arbitrary<History> =>
  fc.record({
    setting,
    commands: fc.array(fc.oneof({ weight: 34, arbitrary: pullCommand }, { weight: 1, arbitrary: uninstall }), {
      minLength: 2,
      maxLength: maxCommands,
    }),
  });
