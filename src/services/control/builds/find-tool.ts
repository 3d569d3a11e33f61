import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { missingCodes, unlessCode } from '../../../kit/errors.ts';

/** The path of a program, by its absolute path or its name on a search path; undefined when there is none. */
export const findTool = (name: string, path: string): string | undefined => candidates(name, path).find(isProgram);

/** The paths of every program of that name: another user may be able to run a later one only. */
export const findTools = (name: string, path: string): string[] => candidates(name, path).filter(isProgram);

function candidates(name: string, path: string): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name));
}

const isProgram = (file: string): boolean =>
  unlessCode([...missingCodes, 'EACCES', 'ELOOP'], false, () => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  });
