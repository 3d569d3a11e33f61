import type { YAMLError } from 'yaml';

/** The parser's codes in our words, where its own may quote what was written. */
export const syntaxWords = {
  ALIAS_PROPS: 'an alias (`*name`) cannot carry a tag or an anchor of its own',
  BAD_ALIAS: 'the name of this anchor or alias is not usable',
  BAD_COLLECTION_TYPE: 'this tag does not fit what it stands before',
  BAD_DIRECTIVE: 'this directive (`%...`) is not known',
  BAD_DQ_ESCAPE:
    'this is no escape sequence of a double-quoted text: write `\\\\` for a backslash, or use single quotes',
  BAD_PROP_ORDER: 'an anchor or a tag stands before an indicator that it must follow',
  BAD_SCALAR_START: 'a text cannot start with this character: put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a second `key: value` cannot stand on this line: put the text in quotes, or begin a new line',
  IMPOSSIBLE: 'this cannot be read as YAML',
  MULTIPLE_DOCS: 'only one document is read: remove this `---` and what follows it',
  NON_STRING_KEY: 'a key must be plain text',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAG_RESOLVE_FAILED: 'tags (`!...`) are not read: remove this one',
  UNEXPECTED_TOKEN:
    'this does not belong here: a quote, a comma, a bracket or an indentation is wrong on this line or before it',
} as const satisfies Partial<Record<YAMLError['code'], string>>;

const words: Partial<Record<YAMLError['code'], string>> = syntaxWords;

/** Codes whose messages are fixed sentences of the parser, without anything from the text. */
export function wordSyntaxError({ code, message }: YAMLError): string {
  return words[code] ?? lowerFirst(message);
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
