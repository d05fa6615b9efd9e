import { Refusal } from '../../errors.ts'
import { AlignmentSteps } from '../../base/diff.ts'
import { type Json, stringifyJson } from '../../base/json.ts'

/** The three things that a merge makes one of: what both came from, what is written to, and what is taken in. */
export interface Sides<T> {
  readonly base: T
  readonly target: T
  readonly source: T
}

/** Where a conflict is (interface 6.3): a JSON Pointer into `data`, or a row, a file, a field of the header, the order of the rows. */
export type Place =
  | string
  | { readonly row: string; readonly column?: string | undefined }
  | { readonly file: string }
  | { readonly header: string }
  | { readonly order: 'rows' }

/** Makes of each of three things another one. */
export function eachSide<T, R>({ base, target, source }: Sides<T>, make: (side: T) => R): Sides<R> {
  return { base: make(base), target: make(target), source: make(source) }
}

export type ConflictKind = 'both_changed' | 'changed_and_removed' | 'both_added' | 'order'

/** What both sides changed, and each in its way. A side that does not have it is absent. */
export interface Conflict extends Partial<Sides<Json | undefined>> {
  readonly place: Place
  /** The place is the source's, since the target does not have it. */
  readonly in?: 'source' | undefined
  readonly kind: ConflictKind
  /** A text with both sides' lines between marks, as git's diff3 style has them. */
  readonly marked?: string | undefined
}

/** How somebody wants a conflict to end. */
export interface Resolution {
  readonly place: Place
  readonly in?: 'source' | undefined
  readonly take?: keyof Sides<unknown> | undefined
  readonly value?: Json | undefined
  readonly remove?: true | undefined
}

/** The last entry of resolutions may say from which side all is taken that the others leave open. */
export interface RestResolution {
  readonly all: 'target' | 'source'
}

/** What one merge may take beyond a pass over all that its sides hold, the merges of its merge bases included. */
export class MergeEffort {
  /** Steps of telling which lines of texts are the same … */
  readonly lines = new AlignmentSteps(6_000_000)
  /** … and which words, with one step for each character that is taken apart. Texts are merged by lines alone once these are spent. */
  readonly words = new AlignmentSteps(4_000_000)
  /** Characters that stand between marks in merged merge bases, each of which may hold those of the bases before it. */
  marks = 4_000_000
}

const MAX_CONFLICTS_LISTED = 1000

/** One merge: it collects conflicts, and ends those that there are resolutions for. */
export class Merging {
  /** Whether it is one of merge bases, whose result is nobody's revision. */
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

  /** What came of a conflict: the value that was chosen, undefined for nothing; of one that is left open the target's. */
  settle(conflict: Conflict): Json | undefined {
    const chosen = this.choose(conflict)
    if (!chosen) return conflict.target
    if (chosen.take !== undefined) return conflict[chosen.take]
    return chosen.remove ? undefined : chosen.value
  }

  /** The resolution of a conflict; undefined if it is left open. */
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

  /** The conflicts that are left open, the first thousand of them. */
  get left(): readonly Conflict[] {
    return this.#left
  }

  /** Whether more are left open than are listed. */
  get isTruncated(): boolean {
    return this.#count > MAX_CONFLICTS_LISTED
  }

  get hasConflicts(): boolean {
    return this.#count > 0
  }

  /** How many conflicts a resolution ended. */
  get resolved(): number {
    return this.#met.size + this.#ofRest
  }

  /** Refuses resolutions that met no conflict with `no_such_conflict`. */
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
 * The merge of several merge bases into one, which nobody is asked about: what is in conflict stays as both sides have it, between marks,
 * as git does it, and so differs from what either side made of it.
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
