import type { Command } from 'commander';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A word that may follow, and what it means. */
interface NextWord {
  word: string;
  description: string;
}

/** A command by its words (none for the program itself), and what may follow them. */
interface Completed {
  path: string;
  commands: NextWord[];
  options: NextWord[];
}

/** The script that completes the commands of a program and their options in a shell. */
export function completionScript(shell: Shell, program: Command): string {
  const all = completedOf(program, '');
  return scripts[shell](program.name(), all);
}

function completedOf(command: Command, path: string): Completed[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter((each) => each.name() !== 'help');
  const own = {
    path,
    commands: below.map((each) => ({ word: each.name(), description: firstSentence(each.description()) })),
    options: help
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long ? [{ word: long, description: firstSentence(description) }] : [])),
  };
  return [own, ...below.flatMap((each) => completedOf(each, path === '' ? each.name() : `${path} ${each.name()}`))];
}

const firstSentence = (text: string): string => text.split(/[.:;] |\.$/)[0] ?? '';

/** Text as one word of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A pattern of `case` for each command that has a path. */
const pathCases = (all: readonly Completed[]): string =>
  all.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' | ');

const scripts: Record<Shell, (name: string, all: readonly Completed[]) => string> = {
  bash: (name, all) => `# source <(${name} completion bash)
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= next word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case $next in
      ${pathCases(all)}) path=$next ;;
    esac
  done
  local words=
  case $path in
${all
  .map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ word }) => word);
    return `    ${quoted(path)}) words=${quoted(words.join(' '))} ;;`;
  })
  .join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _${name} ${name}
`,
  zsh: (name, all) => `#compdef ${name}
# source <(${name} completion zsh)
_${name}() {
  local landfall_path= next word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${landfall_path:+$landfall_path }$word"
    case $next in
      (${pathCases(all)}) landfall_path=$next ;;
    esac
  done
  case $landfall_path in
${all
  .map(({ path, commands, options }) => {
    const words = [...commands, ...options].map(({ word, description }) =>
      quoted(`${word}:${description.replaceAll(':', '\\:')}`),
    );
    return `    (${quoted(path)}) found=(${words.join(' ')}) ;;`;
  })
  .join('\n')}
  esac
  _describe ${name} found || _files
}
compdef _${name} ${name}
`,
  fish: (name, all) => `# ${name} completion fish | source
function __${name}_at
    set -l found ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$found $word")
        if contains -- $next ${all.flatMap(({ path }) => (path === '' ? [] : [quoted(path)])).join(' ')}
            set found $next
        end
    end
    test "$found" = "$argv[1]"
end
${all.map((completed) => fishLines(name, completed)).join('\n')}
`,
};

function fishLines(name: string, { path, commands, options }: Completed): string {
  const start = `complete -c ${name} -n ${quoted(`__${name}_at "${path}"`)}`;
  return [
    ...commands.map(({ word, description }) => `${start} -f -a ${word} -d ${quoted(description)}`),
    ...options.map(({ word, description }) => `${start} -l ${word.slice(2)} -d ${quoted(description)}`),
  ].join('\n');
}
