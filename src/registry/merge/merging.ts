import { Refusal } from '../../errors.ts'
import { AlignmentSteps } from '../../base/diff.ts'
import { type Json, stringifyJson } from '../../base/json.ts'

/** The three inputs of a merge: the common base, the target that is written to, and the source that is taken in. */
export interface Sides<T> {
  readonly base: T
  readonly target: T
  readonly source: T
}

/** The place of a conflict (interface 6.3): a JSON Pointer into `data`, or a row, a file, a field of the header, the order of the rows. */
export type Place =
  | string
  | { readonly row: string; readonly column?: string | undefined }
  | { readonly file: string }
  | { readonly header: string }
  | { readonly order: 'rows' }

/** Converts each of three sides. */
export function eachSide<T, R>({ base, target, source }: Sides<T>, make: (side: T) => R): Sides<R> {
  return { base: make(base), target: make(target), source: make(source) }
}

export type ConflictKind = 'both_changed' | 'changed_and_removed' | 'both_added' | 'order'

/** A place that both sides changed differently. A side without a value is absent. */
export interface Conflict extends Partial<Sides<Json | undefined>> {
  readonly place: Place
  /** The place is given in the source, because the target does not have it. */
  readonly in?: 'source' | undefined
  readonly kind: ConflictKind
  /** The text with both sides' lines between marks, in git's diff3 style. */
  readonly marked?: string | undefined
}

/** How a client resolves a conflict. */
export interface Resolution {
  readonly place: Place
  readonly in?: 'source' | undefined
  readonly take?: keyof Sides<unknown> | undefined
  readonly value?: Json | undefined
  readonly remove?: true | undefined
}

/** The last resolution may name the side for all remaining conflicts. */
export interface RestResolution {
  readonly all: 'target' | 'source'
}

/** The effort that one merge may take beyond one pass over its sides, including the merges of its merge bases. */
export class MergeEffort {
  /** Steps for aligning lines … */
  readonly lines = new AlignmentSteps(6_000_000)
  /** … and words, with one step for each character that is split. When these are spent, texts are merged by lines only. */
  readonly words = new AlignmentSteps(4_000_000)
  /** Characters between marks in merged merge bases, which may include those of earlier bases. */
  marks = 4_000_000
}

const MAX_CONFLICTS_LISTED = 1000

/** One merge: collects conflicts, and applies resolutions to them. */
export class Merging {
  /** Whether this merges merge bases, whose result is not a revision. */
  readonly isOfBases: boolean = false
  readonly effort: MergeEffort
  readonly #resolutions: ReadonlyMap<string, Resolution>
  readonly #rest: RestResolution['all'] | undefined
  readonly #met = new Set<string>()
  #ofRest = 0
  readonly #left: Conflict[] = []
  #count = 0

  /** Refuses two resolutions for one place with `invalid_request`. */
  constructor(resolutions: readonly (Resolution | RestResolution)[] = [], effort = new MergeEffort()) {
    this.effort = effort
    const byPlace = new Map<string, Resolution>()
    let rest: RestResolution['all'] | undefined
    for (const [index, resolution] of resolutions.entries()) {
      if ('all' in resolution) {
        rest = resolution.all
        continue
      }
      const key = keyOf(resolution)
      if (byPlace.has(key)) {
        const loc = ['body', 'resolutions', index, 'place']
        throw new Refusal(
          'invalid_request',
          `${loc.join('.')}: there are two resolutions for ${shownPlace(resolution)}; send one`,
          { errors: [{ loc, msg: 'is resolved twice; send one resolution', type: 'value_error' }] },
        )
      }
      byPlace.set(key, resolution)
    }
    this.#resolutions = byPlace
    this.#rest = rest
  }

  /** The value for a conflict: that of its resolution (undefined for none), or the target's if it is open. */
  settle(conflict: Conflict): Json | undefined {
    const chosen = this.choose(conflict)
    if (!chosen) return conflict.target
    if (chosen.take !== undefined) return conflict[chosen.take]
    return chosen.remove ? undefined : chosen.value
  }

  /** The resolution of a conflict; undefined if it stays open. */
  choose(conflict: Conflict): Resolution | undefined {
    const key = keyOf(conflict)
    const resolution = this.#resolutions.get(key)
    if (resolution) this.#met.add(key)
    else if (this.#rest !== undefined) {
      this.#ofRest++
      return { place: conflict.place, take: this.#rest }
    } else if (++this.#count <= MAX_CONFLICTS_LISTED) this.#left.push(conflict)
    return resolution
  }

  /** The open conflicts, at most the first thousand. */
  get left(): readonly Conflict[] {
    return this.#left
  }

  /** The number of open conflicts, listed or not. */
  get total(): number {
    return this.#count
  }

  get hasConflicts(): boolean {
    return this.#count > 0
  }

  /** The number of resolved conflicts. */
  get resolved(): number {
    return this.#met.size + this.#ofRest
  }

  /** Refuses resolutions without a conflict with `no_such_conflict`. */
  assertAllMet(): void {
    for (const [key, resolution] of this.#resolutions) {
      if (this.#met.has(key)) continue
      throw new Refusal(
        'no_such_conflict',
        `There is no conflict at ${shownPlace(resolution)} to resolve. Merge with "dry_run": true to see which there are, and leave this ` +
          'resolution out.',
        { details: { place: resolution.place, ...(resolution.in && { in: resolution.in }) } },
      )
    }
  }
}

/**
 * The merge of several merge bases into one, without a client's resolutions. As in git, a conflict becomes both sides' values between
 * marks, so it differs from either side.
 */
export class MergingBases extends Merging {
  override readonly isOfBases = true

  constructor(effort: MergeEffort) {
    super([], effort)
  }

  override choose(conflict: Conflict): Resolution {
    const { kind, marked, base, target, source } = conflict
    if (kind === 'changed_and_removed' || kind === 'order') return { place: conflict.place, take: 'base' }
    const shown = (value: Json | undefined): string => (value === undefined ? '' : stringifyJson(value))
    const value = marked ?? markedLines({ base: shown(base), target: shown(target), source: shown(source) })
    this.effort.marks -= value.length
    return { place: conflict.place, ...(this.effort.marks < 0 ? { take: 'base' } : { value }) }
  }
}

/** Three texts between git's marks. */
export function markedLines({ base, target, source }: Sides<string>): string {
  const part = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
  return `<<<<<<< target\n${part(target)}||||||| base\n${part(base)}=======\n${part(source)}>>>>>>> source\n`
}

function keyOf({ place, in: side }: Pick<Resolution, 'place' | 'in'>): string {
  return JSON.stringify([placeKey(place), side ?? 'target'])
}

function placeKey(place: Place): readonly (string | undefined)[] {
  if (typeof place === 'string') return ['data', place]
  if ('row' in place) return ['row', place.row, place.column]
  if ('file' in place) return ['file', place.file]
  return 'header' in place ? ['header', place.header] : ['order']
}

function shownPlace({ place, in: side }: Pick<Resolution, 'place' | 'in'>): string {
  return `${JSON.stringify(place)}${side === undefined ? '' : ' in the source'}`
}
