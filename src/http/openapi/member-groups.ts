import type { InSlices } from '../../base/scheduling.ts'
import type { JsonSchema } from './json-schema.ts'
import { schemasIn } from './schemas-in.ts'

/**
 * Members that many objects share, by the name of their component; `x_` and `X` stand for the singular of each surface. Larger groups come
 * first: an object uses each group whose members it still has completely.
 */
const GROUPS: readonly (readonly [name: string, members: string])[] = [
  [
    'RevisionFields',
    'id slug version author date message created_at deleted_at deleted_by_id name description tags meta artifact_id artifact_slug variant_id variant_slug data',
  ],
  [
    'RecordFields',
    'id slug name description tags meta created_at created_by_id updated_at updated_by_id deleted_at deleted_by_id',
  ],
  ['FlatFields', 'git_url variant_id revision_id data'],
  ['RevisionFilter', 'slugs message author authors date dates'],
  ['Commit', 'message data delta base_revision_id'],
  ['TemplateFields', 'key categories description uri flags data'],
  ['RunFields', 'version status trace_id span_id session_id'],
  ['Header', 'slug name description tags meta'],
  ['HeaderEdit', 'name description tags meta'],
  ['XIds', 'x_id x_variant_id x_revision_id'],
  ['XReferences', 'x_ref x_variant_ref x_revision_ref'],
  ['XVariantReferences', 'x_id x_variant_id x_ref x_variant_ref'],
  ['XVariantReferences', 'x_ref x_variant_ref'],
  ['Roles', 'flags is_application is_evaluator is_snippet'],
  ['RoleEdits', 'is_application is_evaluator is_snippet'],
]

/** A record with fewer members is as short as a reference. */
const LEAST_MEMBERS = 6

/**
 * Replaces shared members of objects in the document by `allOf`: those of a whole component, or of a group,
 * which becomes a component. Changes the schemas in place, so they must belong to the document alone. Yields
 * after each object.
 */
export function* groupMembers(
  paths: object,
  schemas: Record<string, JsonSchema>,
  singulars: readonly string[],
): InSlices<void> {
  const roots = Object.values(schemas)
  const grouping = new Grouping(schemas)
  yield* grouping.read([...roots, ...schemasIn(paths), ...roots.flatMap(schemasIn)])
  yield* grouping.referToWholes()
  for (const [name, members] of GROUPS) {
    for (const singular of members.includes('x_') ? singulars : ['']) {
      const own = members.split(' ').map((member) => member.replace(/^x_/, `${singular}_`))
      yield* grouping.group(name.replace('X', capital(singular)), own)
    }
  }
  grouping.nameInnerObjects()
}

class Grouping {
  readonly #schemas: Record<string, JsonSchema>
  readonly #roots: ReadonlySet<JsonSchema>
  /** The objects whose members may be moved, with each member as text. */
  readonly #objects = new Map<JsonSchema, Texts>()

  constructor(schemas: Record<string, JsonSchema>) {
    this.#schemas = schemas
    this.#roots = new Set(Object.values(schemas))
  }

  /** Adds the schemas whose members may be moved. */
  *read(candidates: readonly JsonSchema[]): InSlices<void> {
    for (const schema of candidates) {
      if (hasOpenMembers(schema)) this.#objects.set(schema, textsOf(schema))
      yield
    }
  }

  /**
   * Makes objects with all members of a component refer to it; of two equal components, the later refers to
   * the earlier.
   */
  *referToWholes(): InSlices<void> {
    const wholes = Object.entries(this.#schemas)
      .map(([name, schema]) => ({
        name,
        schema,
        texts: this.#objects.get(schema) ?? new Map<string, string>(),
      }))
      .filter(({ texts }) => texts.size >= LEAST_MEMBERS)
      .sort((a, b) => b.texts.size - a.texts.size)
    for (const [object, own] of [...this.#objects]) {
      const place = wholes.findIndex(({ schema }) => schema === object)
      const others =
        place < 0 ? wholes : wholes.filter(({ texts }, at) => at < place || texts.size < own.size)
      const whole = others.find(({ texts }) => [...texts].every(([name, text]) => own.get(name) === text))
      if (whole) this.#replace(object, [...whole.texts.keys()], whole.name)
      yield
    }
  }

  /** Makes a component of these members, one for each variation that several objects share. */
  *group(name: string, members: readonly string[]): InSlices<void> {
    const alike = new Map<string, JsonSchema[]>()
    for (const [object, texts] of this.#objects) {
      yield
      if (!members.every((member) => texts.has(member))) continue
      const text = members.map((member) => texts.get(member)).join()
      alike.set(text, [...(alike.get(text) ?? []), object])
    }
    for (const [text, objects] of [...alike].sort(([, a], [, b]) => b.length - a.length)) {
      const [first] = objects
      if (!first || (objects.length - 1) * text.length < objects.length * REFERENCE_CHARACTERS) continue
      const free = freeName(name, this.#schemas)
      this.#schemas[free] = part(first, members)
      for (const object of objects) {
        this.#replace(object, members, free)
        yield
      }
    }
  }

  /**
   * Names inner objects of components that are used in `allOf`: client generators would otherwise make a
   * class for each use.
   */
  nameInnerObjects(): void {
    const names = new Map<string, string>()
    const parents = [...this.#objects.keys()].flatMap(({ allOf = [] }) => allOf as readonly Reference[])
    for (const name of new Set(parents.map(({ $ref }) => $ref.slice(SCHEMAS.length)))) {
      const properties = propertiesOf(this.#schemas[name] ?? {})
      for (const [member, schema] of Object.entries(properties)) {
        if (schema['type'] !== 'object') continue
        const text = JSON.stringify(schema)
        const free = names.get(text) ?? freeName(name + capital(member), this.#schemas)
        names.set(text, free)
        this.#schemas[free] = schema
        properties[member] = referenceTo(free)
      }
    }
  }

  #replace(object: JsonSchema, members: readonly string[], name: string): void {
    const kept = Object.keys(propertiesOf(object)).filter((it) => !members.includes(it))
    const { properties, required } = part(object, kept)
    const allOf = [...((object['allOf'] ?? []) as readonly Reference[]), referenceTo(name)]
    for (const key of ['type', 'properties', 'required', 'allOf']) delete object[key]
    // A component stays its own schema: some generators do not accept a reference in its place.
    if (kept.length === 0 && allOf.length === 1 && !this.#roots.has(object)) Object.assign(object, allOf[0])
    else Object.assign(object, { allOf }, kept.length > 0 ? { properties } : {}, required ? { required } : {})
    this.#objects.set(object, textsOf(object))
  }
}

type Texts = ReadonlyMap<string, string>

interface Reference extends JsonSchema {
  readonly $ref: string
}

const SCHEMAS = '#/components/schemas/'

/** The approximate length of a reference in `allOf`. */
const REFERENCE_CHARACTERS = 60

function hasOpenMembers({ type, properties, additionalProperties }: JsonSchema): boolean {
  return type === 'object' && additionalProperties !== false && typeof properties === 'object'
}

/** Each member as text, including whether it is required. */
function textsOf(object: JsonSchema): Texts {
  const needed = (object['required'] ?? []) as readonly string[]
  const entries = Object.entries(propertiesOf(object))
  return new Map(
    entries.map(([name, schema]) => [name, JSON.stringify(schema) + (needed.includes(name) ? '!' : '')]),
  )
}

function part(object: JsonSchema, members: readonly string[]): JsonSchema {
  const needed = ((object['required'] ?? []) as readonly string[]).filter((name) => members.includes(name))
  const chosen = Object.entries(propertiesOf(object)).filter(([name]) => members.includes(name))
  return {
    type: 'object',
    properties: Object.fromEntries(chosen),
    ...(needed.length > 0 ? { required: needed } : {}),
  }
}

function propertiesOf({ properties = {} }: JsonSchema): Record<string, JsonSchema> {
  return properties as Record<string, JsonSchema> // as JSON Schema has them
}

function referenceTo(name: string): Reference {
  return { $ref: SCHEMAS + name }
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

function freeName(name: string, taken: Readonly<Record<string, unknown>>): string {
  for (let number = 1; ; number++) {
    const free = number === 1 ? name : `${name}${number}`
    if (taken[free] === undefined) return free
  }
}
