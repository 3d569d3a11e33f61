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
export class TypeReader {
  readonly #compiler: Compiler;
  readonly #program: ts.Program;
  readonly #checker: ts.TypeChecker;
  readonly #flags: typeof ts.TypeFlags;

  constructor(compiler: Compiler, program: ts.Program) {
    this.#compiler = compiler;
    this.#program = program;
    this.#checker = program.getTypeChecker();
    this.#flags = compiler.TypeFlags;
  }

  /** The value of a literal type; undefined for other types. */
  literalValue(type: ts.Type): string | number | boolean | undefined {
    if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
    return has(type, this.#flags.BooleanLiteral) ? this.#checker.typeToString(type) === 'true' : undefined;
  }

  /** The schema of a type without parts; undefined for unions and structures. */
  simpleSchema(type: ts.Type): FreeObject | undefined {
    if (has(type, this.#flags.Boolean)) return { type: 'boolean' };
    const literal = this.literalValue(type);
    if (literal !== undefined) return { type: typeof literal, const: literal };
    if (type.isUnion()) return undefined;
    if (has(type, this.#flags.StringLike)) return { type: 'string' };
    if (has(type, this.#flags.NumberLike)) return { type: 'number' };
    if (has(type, this.#flags.Null)) return { type: 'null' };
    if (has(type, this.#flags.NonPrimitive)) return { type: 'object' };
    if (type.isIntersection()) {
      // Such as `string & { brand: ... }`.
      const [primitive] = type.types.flatMap((part) =>
        has(part, this.#flags.Object) ? [] : [this.simpleSchema(part) ?? {}],
      );
      return primitive;
    }
    if (!has(type, this.#flags.Object)) return {};
    if (this.#isMessage(type)) return { type: 'object' };
    if (this.arrayItem(type) ?? this.tuple(type)) return undefined;
    if (isFunction(type)) return {};
    if (!this.#isOfPlatform(type)) return undefined;
    return type.getSymbol()?.name === 'Date' ? { type: 'string', format: 'date-time' } : {};
  }

  /** Whether a value of the type is left out of JSON. */
  isAbsent(type: ts.Type): boolean {
    return has(type, this.#flags.Undefined | this.#flags.Void | this.#flags.Never);
  }

  /** Whether a class or an interface comes from the language or the platform, whose objects are not JSON. */
  #isOfPlatform(type: ts.Type): boolean {
    const declared = isReference(this.#compiler, type) ? type.target : type;
    if (!declared.isClassOrInterface()) return false;
    const files = (declared.getSymbol()?.getDeclarations() ?? []).map((declaration) => declaration.getSourceFile());
    return files.some(
      (file) => this.#program.isSourceFileDefaultLibrary(file) || /[\\/]@types[\\/]node[\\/]/.test(file.fileName),
    );
  }

  #isMessage(type: ts.Type): boolean {
    return has(type, this.#flags.Object) && fieldsOfMessages.every((name) => type.getProperty(name) !== undefined);
  }

  /** Whether a type is a list of messages. */
  isMessages(type: ts.Type): boolean {
    const item = this.arrayItem(type);
    if (!item) return false;
    return item.isUnion() ? item.types.some((each) => this.#isMessage(each)) : this.#isMessage(item);
  }

  /** The engine's wrapper of a value that replaces another one, which only the agent's code makes. */
  isOverwrite(type: ts.Type): boolean {
    return has(type, this.#flags.Object) && type.getProperty('__overwrite__') !== undefined;
  }

  arrayItem(type: ts.Type): ts.Type | undefined {
    return isReference(this.#compiler, type) && this.#checker.isArrayType(type)
      ? this.#checker.getTypeArguments(type)[0]
      : undefined;
  }

  tuple(type: ts.Type): { fixed: readonly ts.Type[]; rest: ts.Type | undefined; minLength: number } | undefined {
    if (!isReference(this.#compiler, type) || !this.#checker.isTupleType(type) || !isTupleTarget(type.target))
      return undefined;
    const { fixedLength, minLength } = type.target;
    const items = this.#checker.getTypeArguments(type);
    return { fixed: items.slice(0, fixedLength), rest: items[fixedLength], minLength };
  }

  /** @param withFunctions whether to include those whose values are functions, which are not JSON. */
  properties(type: ts.Type, { withFunctions = false } = {}): ObjectProperty[] {
    return this.#checker.getPropertiesOfType(type).flatMap((symbol) => {
      const { name } = symbol;
      const inner = this.#checker.getTypeOfSymbol(symbol);
      // Fields by symbols, and private ones.
      if (/^(?:__@|#)/.test(name) || this.#isHidden(symbol)) return [];
      if (!withFunctions && isFunction(this.#checker.getNonNullableType(inner))) return [];
      const isOptional =
        (symbol.flags & this.#compiler.SymbolFlags.Optional) !== 0 ||
        this.isAbsent(inner) ||
        (inner.isUnion() && inner.types.some((each) => this.isAbsent(each)));
      return [{ name, type: inner, isOptional, description: this.#descriptionOf(symbol) }];
    });
  }

  #isHidden(symbol: ts.Symbol): boolean {
    const { Private, Protected } = this.#compiler.ModifierFlags;
    return (symbol.getDeclarations() ?? []).some(
      (declaration) => (this.#compiler.getCombinedModifierFlags(declaration) & (Private | Protected)) !== 0,
    );
  }

  #descriptionOf(symbol: ts.Symbol): string | undefined {
    const text = this.#compiler.displayPartsToString(symbol.getDocumentationComment(this.#checker)).trim();
    return text === '' || text.length > maxDescriptionLength ? undefined : text;
  }

  /** The type of the values under other keys; undefined where a type names all of its keys. */
  indexType(type: ts.Type): ts.Type | undefined {
    return this.#checker.getIndexInfosOfType(type).find(({ keyType }) => has(keyType, this.#flags.StringLike))?.type;
  }
}

const has = (type: ts.Type, flags: ts.TypeFlags): boolean => (type.flags & flags) !== 0;

const isFunction = (type: ts.Type): boolean =>
  type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0;

const isTupleTarget = (target: ts.GenericType): target is ts.TupleType => 'fixedLength' in target;
