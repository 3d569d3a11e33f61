import type { Clock } from '../../../kit/clock.ts';
import type { BuildBounds, BuildRequest } from './build.ts';
import type { BuildFolder } from './build-folder.ts';
import type { TarProcess } from './package-tree.ts';
import type { RunCommand } from './run-command.ts';

/** A build that runs, with all that its steps need. */
export interface RunningBuild {
  /** The request, with a log that masks secrets. */
  request: BuildRequest;
  /** Logs a warning that the revision also keeps: the agent may lack something. */
  warn: (message: string) => void;
  folder: BuildFolder;
  dataDir: string;
  /** Folders of this machine whose repositories may be cloned; absolute paths. */
  allowGit: readonly string[];
  bounds: BuildBounds;
  env: Readonly<Record<string, string>>;
  token: string | undefined;
  /** Sets variables of all further commands of the build. */
  provide: (variables: Readonly<Record<string, string>>) => void;
  run: RunCommand;
  /** Makes the build's user the owner of the checkout. Call it before a command of the user runs there. */
  giveSource: () => Promise<void>;
  /** Starts a process of the build's user that writes a folder as a tar to its standard output. */
  readAsUser: (folder: string) => TarProcess;
  clock: Clock;
  signal: AbortSignal;
}
