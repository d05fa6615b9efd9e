/** A moment at which a step began, by the server's clock. */
interface Moment {
  readonly at: number
  readonly title: string
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const CHANGING = new RegExp(
  [
    `(?<tagged>${UUID})\\.(?<tag>[\\w-]{12})(?![\\w-])`,
    `(?<uuid>(?<![0-9a-f-])${UUID}(?![0-9a-f]))`,
    '(?<date>\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?(?:Z|[+-]\\d\\d:\\d\\d))',
    '(?<token>(?:whsec_|svc_)[\\w+/=-]{20,}|(?<![\\w+/=-])(?![0-9a-f]{43})[\\w-]{43}(?![\\w+/=-]))',
    '(?<hex>(?<![0-9a-zA-Z_-])[0-9a-f]{7,40}(?![0-9a-zA-Z_-]))',
  ].join('|'),
  'g',
)

/** How long things last that have an end: sessions, links, the trash. */
const SPANS: readonly (readonly [ms: number, words: string])[] = [
  [15 * 60_000, '15 minutes'],
  [3600_000, '1 hour'],
  [12 * 3600_000, '12 hours'],
  [24 * 3600_000, '1 day'],
  [30 * 24 * 3600_000, '30 days'],
]

/**
 * Names for what differs from run to run: ids, commits, dates, tokens, addresses. The same thing has the same name wherever it appears,
 * so that a reference to another thing shows as a difference. Names look so: `<bot>`, `<revision 3>`, `<commit of bot revision>`.
 */
export class Names {
  readonly #nameOf = new Map<string, string>()
  readonly #rawOf = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #moments: Moment[] = []
  readonly #commits = new Set<string>()
  readonly #literals = new Set<string>()
  /** Names of ids that say which object they are of, by the hex digits of the object's id that they hold. */
  readonly #objects = new Map<string, string>()
  readonly #fixed: (readonly [raw: string, name: string])[] = []
  #prefix: string | undefined
  #isFirst = false

  /** From now on `raw`, wherever it appears in a text, is called so. */
  fix(raw: string, name: string): void {
    this.#fixed.push([raw, name])
    this.#fixed.sort(([a], [b]) => b.length - a.length)
    this.#rawOf.set(name.slice(1, -1), raw)
  }

  /** A step begins: what is new in its answer is called by `prefix`, if there is one. */
  begin(title: string, at: number, prefix: string | undefined): void {
    if (at > 0) this.#moments.push({ at, title })
    this.#prefix = prefix
    this.#isFirst = prefix !== undefined
  }

  /** What a scenario sends, with things in the place of their names; a name that nothing has is an error. */
  filled(text: string): string {
    for (const [found] of text.matchAll(CHANGING)) this.#literals.add(found)
    return text.replaceAll(/<([a-z][a-z0-9 _./-]*)>/g, (_, name: string) => {
      const raw = this.#rawOf.get(name)
      if (raw === undefined)
        throw new Error(
          `no answer has brought <${name}>; there are ${[...this.#rawOf.keys()].slice(-30).join(', ')}`,
        )
      return raw
    })
  }

  /** Whether something is called so. */
  has(name: string): boolean {
    return this.#rawOf.has(name)
  }

  /** The commits of a repository, told before they are named: each is called by the id of its revision where that has a name. */
  isCommit(oid: string): void {
    this.#commits.add(oid)
  }

  /** Calls an object that depends on what differs from run to run. */
  object(oid: string, kind: string): string {
    return this.#nameOf.get(oid) ?? this.#take(oid, kind)
  }

  /** The text with names in the place of all that differs; `kind` is what an id in it is an id of. */
  text(text: string, kind: string): string {
    let plain = text
    for (const [raw, name] of this.#fixed) plain = plain.replaceAll(raw, name)
    return plain.replaceAll(CHANGING, (found: string, ...rest: unknown[]) => {
      const groups = rest.at(-1) as Record<string, string | undefined>
      const { tagged, tag, uuid, date, token, hex } = groups
      if (tagged !== undefined && tag !== undefined) return `${this.#id(tagged, kind)}.${this.#tag(found)}`
      if (uuid !== undefined) return this.#id(uuid, kind)
      if (date !== undefined) return this.#date(date)
      if (token !== undefined)
        return this.#literals.has(token)
          ? token
          : (this.#nameOf.get(token) ?? this.#take(token, kind === 'id' ? 'token' : kind))
      return hex === undefined ? found : this.#hex(hex, kind)
    })
  }

  #tag(found: string): string {
    return this.#nameOf.get(`tag ${found}`) ?? this.#take(`tag ${found}`, 'etag', found)
  }

  #id(uuid: string, kind: string): string {
    const known = this.#nameOf.get(uuid)
    if (known !== undefined) return known
    // A name-based id follows from the name, the nil id from nothing.
    if (this.#literals.has(uuid) || uuid[14] === '5' || /^[0-]+$/.test(uuid)) return uuid
    const commit = uuid[14] === '8' ? [...this.#commits].find((oid) => isIdOf(uuid, oid)) : undefined
    const commitName = commit && this.#nameOf.get(commit)
    const name =
      commitName?.startsWith('<commit') && !commitName.startsWith('<commit of')
        ? this.#keep(uuid, `revision of ${commitName.slice(1, -1)}`)
        : this.#take(uuid, kind)
    if (uuid[14] === '8') this.#objects.set(digitsOf(uuid), name)
    return name
  }

  #hex(hex: string, kind: string): string {
    const known = this.#nameOf.get(hex)
    if (known !== undefined) return known
    if (this.#literals.has(hex)) return hex
    if (hex.length === 40) return this.#commits.has(hex) ? this.#commit(hex) : hex
    if (hex.length === 32) {
      const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
      const name = this.#nameOf.get(uuid)
      return name === undefined ? this.#take(hex, kind) : `${name.slice(0, -1)} without dashes>`
    }
    if (hex.length === 16) return this.#take(hex, kind)
    const commit = [...this.#commits].find((oid) => oid.startsWith(hex))
    return commit === undefined ? hex : `<short ${this.#commit(commit).slice(1)}`
  }

  #commit(oid: string): string {
    const known = this.#nameOf.get(oid)
    if (known !== undefined) return known
    const revision = this.#objects.get(digitsOf(idOf(oid)))
    return revision === undefined
      ? this.#take(oid, 'commit')
      : this.#keep(oid, `commit of ${revision.slice(1, -1)}`)
  }

  #date(text: string): string {
    const at = Date.parse(text)
    const first = this.#moments[0]
    if (first === undefined || this.#literals.has(text)) return text
    // Two days behind the server's clock is the machine's.
    if (Math.abs(at - Date.now()) < 24 * 3600_000) return '<machine time>'
    if (at < first.at - 24 * 3600_000) return text
    const last = this.#moments.at(-1) ?? first
    if (at <= last.at + 3600_000 / 4) {
      const title = this.#moments.findLast((moment) => moment.at <= at)?.title ?? 'before'
      return `<time of ${title}>`
    }
    for (const [ms, words] of SPANS) {
      const begun = this.#moments.findLast((moment) => moment.at <= at - ms)
      if (begun && at - ms < last.at + 10 * 60_000) return `<${words} after ${begun.title}>`
    }
    return '<later>'
  }

  #take(raw: string, kind: string, value = raw): string {
    const whole = this.#isFirst && kind !== 'etag' && kind !== 'commit' ? this.#prefix : undefined
    if (whole !== undefined) this.#isFirst = false
    const base = whole ?? (this.#prefix === undefined || kind === 'etag' ? kind : `${this.#prefix} ${kind}`)
    const count = (this.#counts.get(base) ?? 0) + 1
    this.#counts.set(base, count)
    const isPlain = (whole !== undefined || base !== kind) && count === 1
    return this.#keep(raw, isPlain ? base : `${base} ${count}`, value)
  }

  #keep(raw: string, name: string, value = raw): string {
    this.#nameOf.set(raw, `<${name}>`)
    this.#rawOf.set(name, value)
    return `<${name}>`
  }
}

/** Whether an id of version 8 is of this object: both begin with the same 74 bits. */
function isIdOf(uuid: string, oid: string): boolean {
  return digitsOf(uuid) === digitsOf(idOf(oid))
}

/** The digits of an id that come from the object; its last twelve name the repository. */
function digitsOf(uuid: string): string {
  return uuid.slice(0, 23)
}

function idOf(oid: string): string {
  const clock = (0x8000 | (Number.parseInt(oid.slice(15, 19), 16) >>> 2)).toString(16)
  return `${oid.slice(0, 8)}-${oid.slice(8, 12)}-8${oid.slice(12, 15)}-${clock}`
}
