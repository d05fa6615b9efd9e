/** A thing that exists, as answers have shown it. */
export interface KnownThing {
  readonly id?: string
  readonly slug?: string
  readonly version?: number
}

/** How many things of a kind are remembered: the latest, so that what is archived or gone does not crowd out the rest. */
const MOST = 60

/**
 * The ids and slugs that answers have shown, by kind (`workflow_variant`, `testcase`, …), to be asked for again: without them no
 * random request gets past the first door.
 */
export class KnownThings {
  readonly #things = new Map<string, KnownThing[]>()
  readonly #tags: string[] = []

  /** Remembers everything in an answer that has an id, under the name it has there. */
  learn(answer: unknown, name = ''): void {
    if (Array.isArray(answer)) {
      for (const item of answer.slice(0, 5)) this.learn(item, singular(name))
      return
    }
    if (typeof answer !== 'object' || answer === null) return
    const { id, slug, version } = answer as Record<string, unknown>
    if (name !== '' && typeof id === 'string') {
      this.#keep(name, {
        id,
        ...(typeof slug === 'string' ? { slug } : {}),
        ...(typeof version === 'number' ? { version } : {}),
      })
    }
    const { key: catalogKey } = answer as Record<string, unknown>
    if (/^(template|type|preset)$/.test(name) && typeof catalogKey === 'string')
      this.#keep(name, { slug: catalogKey })
    for (const [key, value] of Object.entries(answer)) {
      const kind = /^(\w+)_id$/.exec(key)?.[1]
      if (kind !== undefined && typeof value === 'string') this.#keep(kind, { id: value })
      else if (/^\w+_ids$/.test(key) && Array.isArray(value)) {
        for (const item of value.slice(0, 5)) this.#keep(key.slice(0, -4), { id: String(item) })
      } else if (key !== 'data' && key !== 'meta') this.learn(value, key)
    }
  }

  /** Remembers the entity tag of an answer. */
  learnTag(tag: string | null): void {
    if (tag !== null) this.#tags.push(tag)
    if (this.#tags.length > MOST) this.#tags.shift()
  }

  /** Some thing of a kind: the `at`-th, from the latest on, as often round as need be. */
  some(kind: string, at: number): KnownThing | undefined {
    const things = this.#things.get(kind) ?? []
    return things.at(-1 - (at % things.length))
  }

  someTag(at: number): string | undefined {
    return this.#tags.at(-1 - (at % this.#tags.length))
  }

  #keep(kind: string, thing: KnownThing): void {
    const things = this.#things.get(kind) ?? []
    this.#things.set(kind, things)
    if (things.some(({ id, slug }) => id === thing.id && (thing.slug === undefined || slug === thing.slug)))
      return
    things.push(thing)
    if (things.length > MOST) things.shift()
  }
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '')
}
