import type { z } from 'zod'

/** What the schema of a request knows of a value: an object's members, a list's items. Undefined where anything may stand. */
export type Known = KnownObject | KnownList

export interface KnownObject {
  readonly members: ReadonlyMap<string, Known | undefined>
  /** What every other member is, where users name members; undefined where there are no others. */
  readonly each: { readonly known: Known | undefined } | undefined
  /** Members that clients send and that mean nothing here. */
  readonly unused: ReadonlySet<string>
  /** Members that the server makes, in a request that cannot bring them. */
  readonly fixed: ReadonlySet<string>
  /** What to do instead of sending a member that belongs elsewhere. */
  readonly misplaced: Readonly<Record<string, string>>
}

interface KnownList {
  readonly items: Known | undefined
}

/** What a schema cannot say of itself. */
interface Declaration {
  /** Members that are read although no shape says so, such as flags. */
  readonly members?: readonly string[]
  /** Members that clients of other services of this kind send, or send back from answers, and that mean nothing here. */
  readonly unused?: readonly string[]
  /** Members that the server makes and that never change: what is made anew has none yet. */
  readonly fixed?: readonly string[]
  readonly misplaced?: Readonly<Record<string, string>>
  /** What each member is, where users choose the names. */
  readonly each?: z.ZodType
  /** It reads what one of these reads. */
  readonly anyOf?: readonly z.ZodType[]
}

const declarations = new WeakMap<z.core.$ZodType, Declaration>()

/** Declares which fields a schema of requests knows beside those of its shape, and returns the schema. */
export function declare<T extends z.ZodType>(schema: T, declaration: Declaration): T {
  declarations.set(schema, { ...declared(schema), ...declaration })
  return schema
}

/** What was declared of it, or of the schema that it was made from by a check or a description. */
function declared(schema: z.core.$ZodType): Declaration | undefined {
  const { parent } = schema._zod
  return declarations.get(schema) ?? (parent && declared(parent))
}

/**
 * The fields that a schema of requests knows, at every level: read from the schema itself, so that whatever a route reads is known and
 * nothing else is.
 */
export function knownFields(schema: z.core.$ZodType): Known | undefined {
  return withDeclared(declared(schema), knownByShape(schema))
}

function knownByShape(schema: z.core.$ZodType): Known | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod // every schema that zod makes is one of these
  switch (def.type) {
    case 'object': {
      const members = Object.entries(def.shape).map(([name, member]) => [name, knownFields(member)] as const)
      const others = def.catchall && def.catchall._zod.def.type !== 'never' ? def.catchall : undefined
      return {
        ...NOTHING,
        members: new Map(members),
        each: others && { known: knownFields(others) },
      }
    }
    case 'intersection':
      return both(knownFields(def.left), knownFields(def.right))
    case 'union':
      return def.options.map((it: z.core.$ZodType) => knownFields(it)).reduce(either)
    case 'array':
      return { items: knownFields(def.element) }
    case 'pipe':
      // A preprocessing step looks at anything; what is known stands behind it.
      return knownFields(def.in._zod.def.type === 'transform' ? def.out : def.in)
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return knownFields(def.innerType)
    default:
      return undefined
  }
}

const NOTHING: KnownObject = {
  members: new Map(),
  each: undefined,
  unused: new Set(),
  fixed: new Set(),
  misplaced: {},
}

function withDeclared(declaration: Declaration | undefined, known: Known | undefined): Known | undefined {
  if (!declaration) return known
  const { members = [], unused = [], fixed = [], misplaced = {}, each, anyOf } = declaration
  if (anyOf) return anyOf.map((it) => knownFields(it)).reduce(both)
  const shape = known && 'members' in known ? known : NOTHING
  return {
    members: new Map([...shape.members, ...members.map((name) => [name, undefined] as const)]),
    each: each ? { known: knownFields(each) } : shape.each,
    unused: new Set([...shape.unused, ...unused]),
    fixed: new Set([...shape.fixed, ...fixed]),
    misplaced: { ...shape.misplaced, ...misplaced },
  }
}

/** What is read by both of two schemas of one value: what either knows. */
function both(left: Known | undefined, right: Known | undefined): Known | undefined {
  if (!left || !right || !('members' in left) || !('members' in right)) return left ?? right
  const members = new Map(left.members)
  for (const [name, known] of right.members)
    members.set(name, members.has(name) ? both(members.get(name), known) : known)
  return {
    members,
    each: left.each ?? right.each,
    unused: new Set([...left.unused, ...right.unused]),
    fixed: new Set([...left.fixed, ...right.fixed]),
    misplaced: { ...left.misplaced, ...right.misplaced },
  }
}

/** A value of one schema or of another: where one of them says nothing of it, it may be an object of the other all the same. */
const either = both
