import type { JsonSchema } from './json-schema.ts'
import { schemasIn } from './schemas-in.ts'

/**
 * Members that go together in many objects, by the name that they get as a component; `x_` and `X` stand for the singular of each surface.
 * Larger groups stand first: an object takes each group that it has whole in what is left of it.
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

/** A record with fewer members is as short as a reference to another. */
const LEAST_MEMBERS = 6

/**
 * Puts `allOf` into objects of the document in place of the members that they have in common: those of a whole component, or those of a group,
 * which becomes a component. The document's own schemas are changed in place.
 */
export function groupMembers(
  paths: object,
  schemas: Record<string, JsonSchema>,
  singulars: readonly string[],
): void {
  const roots = new Set<JsonSchema>(Object.values(schemas))
  const objects = [...roots, ...schemasIn(paths), ...[...roots].flatMap((root) => schemasIn(root))].filter(
    hasOpenMembers,
  )
  const wholes = Object.entries(schemas)
    .filter(([, schema]) => hasOpenMembers(schema) && textsOf(schema).size >= LEAST_MEMBERS)
    .map(([name, schema], place) => ({ name, texts: textsOf(schema), place, schema }))
    .sort((a, b) => b.texts.size - a.texts.size || a.place - b.place)
  for (const object of new Set(objects)) {
    const own = textsOf(object)
    const place = wholes.findIndex(({ schema }) => schema === object)
    const whole = wholes.find(
      ({ texts, schema }, index) =>
        schema !== object &&
        (texts.size < own.size || place < 0 || index < place) && // of two that are the same, the later refers to the earlier
        [...texts].every(([name, text]) => own.get(name) === text),
    )
    if (whole) replace(object, [...whole.texts.keys()], whole.name, roots.has(object))
  }
  for (const [name, members] of GROUPS) {
    const words = members.split(' ')
    const own = members.includes('x_') ? singulars : ['']
    for (const singular of own) {
      group(
        name.replace('X', capital(singular)),
        words.map((word) => word.replace(/^x_/, `${singular}_`)),
      )
    }
  }
  nameInnerObjects()

  /** What is put together of an object with objects in it has these in common: generators of clients would make each of them anew. */
  function nameInnerObjects(): void {
    const names = new Map<string, string>()
    const parents = objects.flatMap(({ allOf }) => (allOf ?? []) as readonly { readonly $ref: string }[])
    for (const name of new Set(parents.map(({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1)))) {
      const properties = (schemas[name]?.['properties'] ?? {}) as Record<string, JsonSchema>
      for (const [member, schema] of Object.entries(properties)) {
        if (schema['type'] !== 'object') continue
        const text = JSON.stringify(schema)
        const free = names.get(text) ?? freeName(name + capital(member), schemas)
        names.set(text, free)
        schemas[free] = schema
        properties[member] = referenceTo(free)
      }
    }
  }

  function group(name: string, members: readonly string[]): void {
    const alike = new Map<string, JsonSchema[]>()
    for (const object of new Set(objects)) {
      if (!hasOpenMembers(object)) continue
      const texts = textsOf(object)
      if (!members.every((member) => texts.has(member))) continue
      const text = members.map((member) => texts.get(member)).join()
      alike.set(text, [...(alike.get(text) ?? []), object])
    }
    for (const [text, of] of [...alike].sort((a, b) => b[1].length - a[1].length)) {
      const [first] = of
      if (!first || of.length < 2 || (of.length - 1) * text.length < of.length * 60) continue
      const free = freeName(name, schemas)
      schemas[free] = part(first, members)
      for (const object of of) replace(object, members, free, roots.has(object))
    }
  }
}

function hasOpenMembers({ type, properties, additionalProperties }: JsonSchema): boolean {
  return (
    type === 'object' &&
    additionalProperties !== false &&
    typeof properties === 'object' &&
    properties !== null
  )
}

/** Each member as text, with whether it is required. */
function textsOf({ properties, required }: JsonSchema): ReadonlyMap<string, string> {
  const needed = (required ?? []) as readonly string[]
  const entries = Object.entries((properties ?? {}) as JsonSchema)
  return new Map(
    entries.map(([name, schema]) => [name, JSON.stringify(schema) + (needed.includes(name) ? '!' : '')]),
  )
}

function part({ properties, required }: JsonSchema, members: readonly string[]): JsonSchema {
  const needed = ((required ?? []) as readonly string[]).filter((name) => members.includes(name))
  const chosen = Object.entries(properties as JsonSchema).filter(([name]) => members.includes(name))
  return {
    type: 'object',
    properties: Object.fromEntries(chosen),
    ...(needed.length > 0 ? { required: needed } : {}),
  }
}

function replace(object: JsonSchema, members: readonly string[], name: string, isRoot: boolean): void {
  const reference = referenceTo(name)
  const kept = Object.keys(object['properties'] as JsonSchema).filter((it) => !members.includes(it))
  const { properties, required } = part(object, kept)
  const allOf = [...((object['allOf'] ?? []) as readonly object[]), reference]
  for (const key of ['type', 'properties', 'required', 'allOf']) delete object[key]
  if (kept.length === 0 && allOf.length === 1 && !isRoot) Object.assign(object, reference)
  else if (kept.length === 0) Object.assign(object, { allOf })
  else Object.assign(object, { type: 'object', allOf, properties }, required ? { required } : {})
}

function referenceTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
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
