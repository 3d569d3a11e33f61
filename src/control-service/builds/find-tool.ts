import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { missingCodes, unlessCode } from '../../errors.ts';

/** The path of a program, by its absolute path or its name on a search path; undefined when there is none. */
export function findTool(name: string, path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))).find(isProgram);
}

const isProgram = (file: string): boolean =>
  unlessCode([...missingCodes, 'EACCES', 'ELOOP'], false, () => {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  });
