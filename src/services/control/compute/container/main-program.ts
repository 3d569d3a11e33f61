import { dirname } from 'node:path';
import { programParts, type AgentProgramFiles } from '../../isolation/program.ts';
import { agentVariables, type AgentSettings } from '../agent-environment.ts';
import type { AgentSpec } from '../compute.ts';
import { memoryBound } from '../memory-bound.ts';
import type { AgentEndpoints } from './networks.ts';
import type { MainProgram } from './plan.ts';

/** The port that every agent listens on in its container, passed as `PORT`. */
export const portInside = 8_000;

interface ContainerFacts extends AgentSettings {
  /** The addresses of the agent's database and tracing, as the container reaches them. */
  endpoints: AgentEndpoints;
  buildImage: string;
  program: AgentProgramFiles;
  /** The user that a build's container runs as; the image's own when undefined. */
  user: { uid: number; gid: number } | undefined;
}

/** The main container: the image itself, or one with Node.js, and the build and this installation mounted read-only. */
export function mainProgram(spec: AgentSpec, facts: ContainerFacts): MainProgram {
  const { program } = spec;
  const env = {
    ...agentVariables({ ...spec, ...facts.endpoints }, facts),
    HOST: '0.0.0.0',
    PORT: String(portInside),
  };
  const published = `--publish=127.0.0.1::${portInside}`;
  if (program.kind === 'image') return { image: program.imageUri, flags: [published], command: [], env };
  const mount = (path: string, readonly: boolean): string =>
    `--mount=type=bind,source=${path},destination=${path}${readonly ? ',readonly' : ''}`;
  return {
    image: facts.buildImage,
    flags: [
      published,
      '--entrypoint=node',
      `--workdir=${dirname(program.graphConfigFile)}`,
      '--tmpfs=/tmp:mode=1777',
      ...(facts.user ? [`--user=${facts.user.uid}:${facts.user.gid}`] : []),
      ...programParts(facts.program).map((part) => mount(part, true)),
      mount(program.folder, true),
      ...(program.pythonPackages === undefined ? [] : [mount(program.pythonPackages, true)]),
      mount(program.homeFolder, false),
    ],
    command: [`--max-old-space-size=${memoryBound(spec).heapMib}`, facts.program.agentServer],
    env: {
      NODE_ENV: 'production',
      ...env,
      HOME: program.homeFolder,
      TMPDIR: program.homeFolder,
      LANDFALL_GRAPH_CONFIG: program.graphConfigFile,
      // The environment links to an interpreter by its path on this machine: the image has one there too.
      ...(program.python === undefined ? {} : { LANDFALL_PYTHON: program.python }),
    },
  };
}
