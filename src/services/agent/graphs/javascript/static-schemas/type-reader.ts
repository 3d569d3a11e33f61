import type ts from 'typescript-5';
import type { FreeObject } from '../../../../../contract/agent/open-word.ts';
import type { Compiler } from './compiler.ts';

/** A property of an object in TypeScript. */
export interface ObjectProperty {
  name: string;
  type: ts.Type;
  isOptional: boolean;
  /** Its comment for documentation. */
  description: string | undefined;
}

const maxDescriptionLength = 500;

/** Classes of messages of any version, which agents extend, have these fields. */
const fieldsOfMessages = ['content', 'additional_kwargs', 'response_metadata'];

/** Whether a type is a class, an interface or a tuple with type arguments. */
export const isReference = ({ TypeFlags, ObjectFlags }: Compiler, type: ts.Type): type is ts.TypeReference =>
  (type.flags & TypeFlags.Object) !== 0 &&
  'objectFlags' in type &&
  (Number(type.objectFlags) & ObjectFlags.Reference) !== 0;

/** Answers questions about types in terms of JSON. */
export function typeReader(compiler: Compiler, program: ts.Program) {
  const checker = program.getTypeChecker();
  const { TypeFlags, SymbolFlags } = compiler;
  const has = (type: ts.Type, flags: ts.TypeFlags): boolean => (type.flags & flags) !== 0;

  /** The value of a literal type; undefined for other types. */
  function literalValue(type: ts.Type): string | number | boolean | undefined {
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
    return has(type, TypeFlags.BooleanLiteral) ? checker.typeToString(type) === 'true' : undefined;
  }

  /** The schema of a type without parts; undefined for unions and structures. */
  function simpleSchema(type: ts.Type): FreeObject | undefined {
    if (has(type, TypeFlags.Boolean)) return { type: 'boolean' };
    const literal = literalValue(type);
    if (literal !== undefined) return { type: typeof literal, const: literal };
    if (type.isUnion()) return undefined;
    if (has(type, TypeFlags.StringLike)) return { type: 'string' };
    if (has(type, TypeFlags.NumberLike)) return { type: 'number' };
    if (has(type, TypeFlags.Null)) return { type: 'null' };
    if (has(type, TypeFlags.NonPrimitive)) return { type: 'object' };
    if (type.isIntersection()) {
      // Such as `string & { brand: ... }`.
      const [primitive] = type.types.flatMap((part) => (has(part, TypeFlags.Object) ? [] : [simpleSchema(part) ?? {}]));
      return primitive;
    }
    if (!has(type, TypeFlags.Object)) return {};
    if (isMessage(type)) return { type: 'object' };
    if (arrayItem(type) ?? tuple(type)) return undefined;
    if (isFunction(type)) return {};
    if (!isOfPlatform(type)) return undefined;
    return type.getSymbol()?.name === 'Date' ? { type: 'string', format: 'date-time' } : {};
  }

  /** Whether a value of the type is left out of JSON. */
  const isAbsent = (type: ts.Type): boolean => has(type, TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never);

  const isFunction = (type: ts.Type): boolean =>
    type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0;

  /** Whether a class or an interface comes from the language or the platform, whose objects are not JSON. */
  function isOfPlatform(type: ts.Type): boolean {
    const declared = isReference(compiler, type) ? type.target : type;
    if (!declared.isClassOrInterface()) return false;
    const files = (declared.getSymbol()?.getDeclarations() ?? []).map((declaration) => declaration.getSourceFile());
    return files.some(
      (file) => program.isSourceFileDefaultLibrary(file) || /[\\/]@types[\\/]node[\\/]/.test(file.fileName),
    );
  }

  const isMessage = (type: ts.Type): boolean =>
    has(type, TypeFlags.Object) && fieldsOfMessages.every((name) => type.getProperty(name) !== undefined);

  /** Whether a type is a list of messages. */
  function isMessages(type: ts.Type): boolean {
    const item = arrayItem(type);
    if (!item) return false;
    return item.isUnion() ? item.types.some(isMessage) : isMessage(item);
  }

  /** The engine's wrapper of a value that replaces another one, which only the agent's code makes. */
  const isOverwrite = (type: ts.Type): boolean =>
    has(type, TypeFlags.Object) && type.getProperty('__overwrite__') !== undefined;

  const arrayItem = (type: ts.Type): ts.Type | undefined =>
    isReference(compiler, type) && checker.isArrayType(type) ? checker.getTypeArguments(type)[0] : undefined;

  function tuple(
    type: ts.Type,
  ): { fixed: readonly ts.Type[]; rest: ts.Type | undefined; minLength: number } | undefined {
    if (!isReference(compiler, type) || !checker.isTupleType(type) || !isTupleTarget(type.target)) return undefined;
    const { fixedLength, minLength } = type.target;
    const items = checker.getTypeArguments(type);
    return { fixed: items.slice(0, fixedLength), rest: items[fixedLength], minLength };
  }

  const isTupleTarget = (target: ts.GenericType): target is ts.TupleType => 'fixedLength' in target;

  /** @param withFunctions whether to include those whose values are functions, which are not JSON. */
  function properties(type: ts.Type, { withFunctions = false } = {}): ObjectProperty[] {
    return checker.getPropertiesOfType(type).flatMap((symbol) => {
      const { name } = symbol;
      const inner = checker.getTypeOfSymbol(symbol);
      // Fields by symbols, and private ones.
      if (/^(?:__@|#)/.test(name) || isHidden(symbol)) return [];
      if (!withFunctions && isFunction(checker.getNonNullableType(inner))) return [];
      const isOptional =
        (symbol.flags & SymbolFlags.Optional) !== 0 ||
        isAbsent(inner) ||
        (inner.isUnion() && inner.types.some(isAbsent));
      return [{ name, type: inner, isOptional, description: descriptionOf(symbol) }];
    });
  }

  function isHidden(symbol: ts.Symbol): boolean {
    const { Private, Protected } = compiler.ModifierFlags;
    return (symbol.getDeclarations() ?? []).some(
      (declaration) => (compiler.getCombinedModifierFlags(declaration) & (Private | Protected)) !== 0,
    );
  }

  function descriptionOf(symbol: ts.Symbol): string | undefined {
    const text = compiler.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
    return text === '' || text.length > maxDescriptionLength ? undefined : text;
  }

  /** The type of the values under other keys; undefined where a type names all of its keys. */
  const indexType = (type: ts.Type): ts.Type | undefined =>
    checker.getIndexInfosOfType(type).find(({ keyType }) => has(keyType, TypeFlags.StringLike))?.type;

  return {
    simpleSchema,
    literalValue,
    isAbsent,
    isMessages,
    isOverwrite,
    arrayItem,
    tuple,
    properties,
    indexType,
  };
}
