import {
  isJsonObject,
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  isJsonArray,
  ExactNumber,
  printJson,
  groupBy,
  stringifyJson,
  isLight,
} from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { EmbedBudget, type EmbedLimits } from './embed-budget.ts'
import { EmbedRefusal, placeholderOf } from './embed-refusal.ts'
import type { EmbedTarget, EmbedTargets } from './targets/embed-targets.ts'
import type { EmbedToken, EmbedLocation } from './syntax/embed-token.ts'
import { EmbedOccurrence, type Brought } from './syntax/embed-occurrence.ts'
import { findEmbeds, isObjectEmbed, readObjectEmbed } from './syntax/find-embeds.ts'
import { ResolutionLog, type ResolutionInfo } from './resolution-log.ts'
import { isJsonPath, memberAt, pathSteps, selectValue, stepKey } from './select-value.ts'
import { enter, type Ancestor, type ResolutionContext } from './resolution-context.ts'
import { TargetFinder } from './targets/target-finder.ts'
import { referencesJson } from './references-json.ts'

/** How the embeds of a request are resolved (interface 10.1, 10.10, 10.12). */
export interface ResolveOptions extends EmbedLimits {
  readonly errorPolicy: ErrorPolicy
  /** The revision that holds the data, if any: embedding it is a cycle. */
  readonly host?: Ancestor | undefined
}

/** What a failed embed does: fails the request, becomes `<error:NAME>`, or stays unchanged. */
export type ErrorPolicy = 'exception' | 'placeholder' | 'keep'

/** Data with resolved embeds, and a report. */
export interface ResolvedData {
  readonly data: JsonObject
  readonly info: ResolutionInfo
}

/**
 * Replaces every embed token in the data by its target (interface 10.10): form A by the value, forms B and C
 * by its text. Inserted data is resolved too. Form A selects from the stored target; forms B and C select
 * from the target with the embeds on the path and in the selected part resolved. Cycles are detected by
 * revision ids along the path from the host to each place; the whole request shares all limits. Under the
 * policy `exception`, throws an `EmbedRefusal` that names place and reference. The caller checks whether the
 * result is still valid for its family.
 */
export async function resolveEmbeds(
  data: JsonObject,
  targets: EmbedTargets,
  options: ResolveOptions,
): Promise<ResolvedData> {
  const log = new ResolutionLog()
  const resolver = new Resolver(targets, options, log)
  const run = { target: undefined, tally: { resolved: 0, deepest: 0 } }
  const chain = options.host ? [options.host] : []
  const here = { run, chain, depth: 1, location: [] }
  const resolved = await resolver.resolve(data, () => here)
  if (!isJsonObject(resolved)) {
    throw new EmbedRefusal('embed_invalid', 'An embed in place of all data must select an object.', 'request')
  }
  return { data: resolved, info: log.info(run.tally) }
}

/** A token without its location. */
type Unplaced = Pick<EmbedToken, 'form' | 'references' | 'selector'>

/** Resolves one request. */
class Resolver {
  readonly #targets: TargetFinder
  readonly #policy: ErrorPolicy
  readonly #budget: EmbedBudget
  readonly #log: ResolutionLog
  readonly #slice = new TimeSlice()
  readonly #spendVisits = (values: number) => this.#budget.spendVisits(values)

  constructor(targets: EmbedTargets, options: ResolveOptions, log: ResolutionLog) {
    this.#targets = new TargetFinder(targets)
    this.#policy = options.errorPolicy
    this.#budget = new EmbedBudget(options)
    this.#log = log
  }

  /**
   * Replaces the embeds of a value, and those of inserted data. First all current ones, form A before B
   * before C as clients expect, then the inserted data, place by place.
   */
  async resolve(value: Json, standingOf: (token: EmbedToken) => ResolutionContext): Promise<Json> {
    const sites = EmbedOccurrence.all(value, findEmbeds(value).tokens)
    for (const form of ['object', 'long', 'short'] as const) {
      for (const site of sites) {
        for (const token of site.tokens) {
          if (token.form !== form || !site.isOpen) continue
          await this.#take(site, token, standingOf(token))
          if (this.#slice.isOver) await this.#slice.rest()
        }
      }
    }
    const replacements = []
    for (const site of sites) {
      const { value: brought, standingOf: next } = site.outcome()
      replacements.push({
        location: site.location,
        value: next ? await this.resolve(brought, next) : brought,
      })
    }
    return replaceAt(value, replacements)
  }

  async #take(site: EmbedOccurrence, token: EmbedToken, here: ResolutionContext): Promise<void> {
    try {
      this.#budget.spendLevels(here.location.length + token.location.length)
      const place = { ...here, location: [...here.location, ...token.location] }
      site.bring(
        token,
        token.form === 'object' ? await this.#valueOf(token, place) : await this.#textOf(token, place),
      )
    } catch (error) {
      if (!(error instanceof EmbedRefusal)) throw error
      const refusal = errorWithLocation(error, token, here)
      if (this.#policy === 'exception' || refusal.reach !== 'embed') throw refusal
      this.#budget.spendFailure()
      this.#log.failed(refusal.message, token, here)
      site.fail(this.#policy === 'placeholder' ? placeholderOf(refusal) : undefined)
    }
  }

  /** The value that a form A embed inserts, selected from the stored target. */
  async #valueOf(token: Unplaced, here: ResolutionContext): Promise<Brought> {
    const target = await this.#targets.targetOf(token, here)
    this.#budget.beginEmbed(here.depth)
    const value = selectValue(target.data, token.selector.path, this.#spendVisits)
    this.#budget.spendInserted(await lengthOf(value))
    this.#budget.spendEmbed()
    this.#log.resolved(token, here)
    return { value, here: enter(target, here) }
  }

  /**
   * The text that an embed of form B or C inserts, selected from the target after resolving its embeds in a
   * separate run.
   */
  async #textOf(token: Unplaced, here: ResolutionContext): Promise<Brought> {
    const target = await this.#targets.targetOf(token, here)
    this.#budget.beginEmbed(here.depth)
    const run = { target: target.slug, tally: { resolved: 0, deepest: 0 } }
    const there = enter(target, here)
    const text = await embedText(await this.#selected(target, token, { ...there, run, location: [] }))
    this.#budget.spendInserted(text.length)
    this.#budget.spendEmbed()
    this.#log.resolved(token, here, run.tally)
    return { value: text, here: there }
  }

  async #selected(
    { data }: EmbedTarget,
    { form, selector }: Unplaced,
    here: ResolutionContext,
  ): Promise<Json> {
    const { path } = selector
    try {
      let at: Brought = { value: data, here }
      if (path === undefined) return await this.#resolveAt(at)
      if (form === 'short') at = await this.#step(at, 'parameters', path)
      if (isJsonPath(path)) {
        const whole = await this.#resolveAt(at)
        if (whole !== at.value) this.#budget.spendInserted(await lengthOf(whole))
        return selectValue(whole, path, this.#spendVisits)
      }
      at = await this.#opened(at)
      for (const step of pathSteps(at.value, path)) at = await this.#step(at, step, path)
      return await this.#resolveAt(at)
    } catch (error) {
      if (error instanceof EmbedRefusal && error.reach === 'run') throw error.asFailedEmbed()
      throw error
    }
  }

  #resolveAt({ value, here }: Brought): Promise<Json> {
    return this.resolve(value, () => here)
  }

  async #step(from: Brought, step: string, path: string): Promise<Brought> {
    const { value, here } = await this.#opened(from)
    const location = [...here.location, stepKey(value, step)]
    return { value: memberAt(value, step, path), here: { ...here, location } }
  }

  /** The value that a path continues from: an embed of form A is replaced by what it inserts. */
  async #opened(from: Brought): Promise<Brought> {
    let at = from
    while (isObjectEmbed(at.value)) {
      const token = readObjectEmbed(at.value)
      if (!token) break
      const { here } = at
      at = await this.#valueOf(token, here).catch((error: unknown) => {
        throw error instanceof EmbedRefusal
          ? errorWithLocation(error, { ...token, location: [] }, here)
          : error
      })
    }
    return at
  }
}

/** The length of the value's JSON text, in UTF-16 units. */
async function lengthOf(value: Json): Promise<number> {
  return (await printJson(value)).toString().length
}

/** A value for a location. */
interface Replacement {
  readonly location: EmbedLocation
  readonly value: Json
}

/**
 * A copy of `document` with these values at their locations, none of which is inside another. Other parts are
 * shared.
 */
function replaceAt(document: Json, replacements: readonly Replacement[]): Json {
  return replaceBelow(document, replacements, 0)
}

function replaceBelow(value: Json, replacements: readonly Replacement[], level: number): Json {
  const [first] = replacements
  if (!first) return value
  if (first.location.length === level) return first.value
  const inside = groupBy(replacements, ({ location }) => location[level])
  const replaced = (key: string | number, member: Json) =>
    replaceBelow(member, inside.get(key) ?? [], level + 1)
  if (isJsonArray(value)) return value.map((item, index) => replaced(index, item))
  if (!isJsonObject(value)) return value
  return fromEntries(entriesOf(value).map(([key, member]) => [key, replaced(key, member)]))
}

/**
 * Adds the location and references of the failed token to the error's sentence and details. A failure inside a target is passed through
 * here once for each enclosing embed; its details name the outermost one.
 */
function errorWithLocation(
  refusal: EmbedRefusal,
  { location, references }: EmbedToken,
  here: ResolutionContext,
): EmbedRefusal {
  const place = [...here.location, ...location]
  const asJson = referencesJson(references)
  const { target } = here.run
  const where = `${target === undefined ? '' : `in "${target}", `}${shown(['data', ...place].join('.'))}`
  return new EmbedRefusal(
    refusal.code,
    `${where} embeds ${shown(stringifyJson(asJson))}: ${refusal.message}`,
    refusal.reach,
    { ...refusal.data, details: { ...refusal.data.details, location: place, references: asJson } },
  )
}

function shown(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/**
 * The text of a value inside a string (interface 10.3): a string unchanged; anything else as JSON with a
 * space after every comma and colon, non-ASCII characters escaped, every number digit for digit. Large values
 * are written in slices.
 */
export async function embedText(value: Json): Promise<string> {
  if (typeof value === 'string') return value
  if (isLight(value)) return jsonText(value)
  const pieces: string[] = []
  await write(value, pieces, new TimeSlice())
  return pieces.join('')
}

/** Writes light values at once. */
async function write(value: Json, pieces: string[], slice: TimeSlice): Promise<void> {
  if (typeof value === 'string') {
    pieces.push('"')
    for (let from = 0; from < value.length; from += CHUNK) {
      // A surrogate pair split here is two escapes, the same as unsplit.
      pieces.push(quoted(value.slice(from, from + CHUNK)).slice(1, -1))
      if (slice.isOver) await slice.rest()
    }
    pieces.push('"')
  } else if (isJsonArray(value)) {
    await slice.each(value, (item, index) => {
      pieces.push(index === 0 ? '[' : ', ')
      return writeMember(item, pieces, slice)
    })
    pieces.push(value.length === 0 ? '[]' : ']')
  } else if (isJsonObject(value)) {
    const members = entriesOf(value)
    await slice.each(members, ([key, member], index) => {
      pieces.push(`${index === 0 ? '{' : ', '}${quoted(key)}: `)
      return writeMember(member, pieces, slice)
    })
    pieces.push(members.length === 0 ? '{}' : '}')
  } else {
    pieces.push(jsonText(value))
  }
}

const CHUNK = 32 * 1024

function writeMember(value: Json, pieces: string[], slice: TimeSlice): Promise<void> | undefined {
  if (!isLight(value)) return write(value, pieces, slice)
  pieces.push(jsonText(value))
  return undefined
}

function jsonText(value: Json): string {
  if (typeof value === 'string') return quoted(value)
  if (value instanceof ExactNumber) return value.literal
  if (isJsonArray(value)) return `[${value.map(jsonText).join(', ')}]`
  if (!isJsonObject(value)) return String(value)
  return `{${entriesOf(value)
    .map(([key, member]) => `${quoted(key)}: ${jsonText(member)}`)
    .join(', ')}}`
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
