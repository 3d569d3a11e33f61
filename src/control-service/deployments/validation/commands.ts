import { refusedInCommand } from '../../../contract/control/commands.ts';

/** The problem with `install_command` or `build_command`, if any: only plain words and `&&` are allowed. */
export function commandProblem(field: string, command: string): string | undefined {
  const found = refusedInCommand(command);
  if (found.length > 0) {
    return `${field} must not contain ${found.join(' or ')}; put what needs it into a script of the repository.`;
  }
  return command.trim() === '' ? `${field} may not be blank; leave it out to have it found.` : undefined;
}
