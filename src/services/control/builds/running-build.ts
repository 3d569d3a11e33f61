import type { Clock } from '../../../kit/clock.ts';
import type { BuildBounds, BuildRequest } from './build.ts';
import type { BuildFolder } from './build-folder.ts';
import type { TarProcess } from './package-tree.ts';
import type { RunCommand } from './run-command.ts';

/** A build while it runs, with what its steps use. */
export interface RunningBuild {
  /** Its log masks secrets. */
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
  /** Changes the checkout's owner to the build's user, before anything runs in it. */
  giveSource: () => Promise<void>;
  /** Starts a process of the build's user that writes a folder as a tar to its standard output. */
  readAsUser: (folder: string) => TarProcess;
  clock: Clock;
  signal: AbortSignal;
}
