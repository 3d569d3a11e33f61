import { InvalidArgumentError, Option, type Command } from 'commander';
import type { OperateCommand } from '../../app/operate/operate.ts';

const defaultLimit = 50;

/** Adds `app jobs`, `app retry` and `app deliveries`, for operators of the App. */
export function addAppCommands(
  program: Command,
  run: (command: Command, requested: OperateCommand) => Promise<void>,
): void {
  const app = program
    .command('app')
    .description(
      'Inspect and retry failed jobs and deliveries. Run it where the App runs: it reads its settings and .env.',
    );

  const jobs = app.command('jobs').description('List the jobs that failed, or that wait to be repeated.');
  jobs.addOption(limit()).addOption(json());
  jobs.action(() => run(jobs, { kind: 'jobs', limit: limitOf(jobs) }));

  const retry = app
    .command('retry')
    .description('Run a job again; of a delivery it is the GUID that GitHub shows.')
    .argument('<id>', 'as it is listed');
  retry.addOption(json());
  retry.action((id: string) => run(retry, { kind: 'retry', id }));

  const deliveries = app
    .command('deliveries')
    .description('List the latest deliveries and what was decided about each.')
    .option('--unhandled', 'only those that were not handled');
  deliveries.addOption(limit()).addOption(json());
  deliveries.action(() => {
    const unhandled = deliveries.getOptionValue('unhandled') === true;
    return run(deliveries, { kind: 'deliveries', limit: limitOf(deliveries), unhandled });
  });
}

const limit = (): Option =>
  new Option('--limit <count>', `How many at most (default: ${defaultLimit}).`)
    .default(defaultLimit)
    .argParser((text) => {
      const count = /^\d{1,5}$/.test(text) ? Number(text) : 0;
      if (count < 1) throw new InvalidArgumentError('It is a number from 1 to 99999.');
      return count;
    });

const json = (): Option => new Option('--json', 'Print the result as one line of JSON.');

const limitOf = (command: Command): number => Number(command.getOptionValue('limit'));
