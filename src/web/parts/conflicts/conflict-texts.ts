import type { Answer } from '../../api/call.ts'
import { membersOf, parseJson } from '../../api/json.ts'
import { matchesOf } from '../diff/line-diff.ts'

/** A conflict as merge, revert and cherry-pick answer it (interface 6.7). */
export type Conflict = Answer<'POST /workflows/variants/merge'>['merge']['conflicts'][number]

/** How a conflict ends (interface 6.8). */
export type Resolution =
  | { readonly place: Conflict['place']; readonly in?: 'source'; readonly take: 'target' | 'source' }
  | { readonly place: Conflict['place']; readonly in?: 'source'; readonly value: unknown }
  | { readonly all: 'target' | 'source' }

/** What somebody chose for a block: a side, both, or what was typed. */
export type Decision = { readonly take: 'target' | 'source' | 'both' } | { readonly text: string }

/** The texts of the three sides; undefined where a side has nothing. */
export interface Sides {
  readonly base: string | undefined
  readonly target: string | undefined
  readonly source: string | undefined
}

/** One thing to decide: a value, or a passage of a text. */
export interface Block {
  /** Equal for the same passage with the same three sides, also after another merge. */
  readonly key: string
  readonly conflict: Conflict
  /** `text`: the sides are texts. `value`: they are JSON. `order`: only a side can be taken. */
  readonly kind: 'text' | 'value' | 'order'
  readonly sides: Sides
  /** The text around a passage inside of a line. */
  readonly around?: { readonly before: string; readonly after: string } | undefined
  /** What stands between the two sides if both are used. */
  readonly between: string
}

/** A conflict as merged text with the passages to decide; of a value, the one block. */
export interface Conflicted {
  readonly conflict: Conflict
  readonly parts: readonly (string | Block)[]
}

/** Takes a conflict apart into what is merged already and what is to be decided. */
export function conflictedOf(conflict: Conflict): Conflicted {
  const { base, target, source, marked, kind, place } = conflict
  if (kind === 'order')
    return single(conflict, 'order', { base: shown(base), target: shown(target), source: shown(source) })
  const isText = [base, target, source].every((it) => it === undefined || typeof it === 'string')
  if (!isText)
    return single(conflict, 'value', { base: shown(base), target: shown(target), source: shown(source) })
  const sides = { base, target, source } as Sides
  const mayBeSplit =
    !/\/(?:code|script)$/.test(String(place)) && !(typeof place === 'object' && 'file' in place)
  const regions = (marked === undefined ? undefined : regionsOf(marked, sides)) ?? [sides]
  const pieces = regions.flatMap((it) =>
    typeof it === 'string'
      ? [{ text: it }]
      : ((mayBeSplit ? phrasesOf(it) : undefined) ?? [{ sides: it, isWhole: true }]),
  )
  const times = new Map<string, number>()
  const parts = pieces.map((piece, at): string | Block => {
    if ('text' in piece) return piece.text
    const isPhrase = !('isWhole' in piece)
    const key = keyOf(conflict, piece.sides)
    const count = times.get(key) ?? 0
    times.set(key, count + 1)
    const [before, after] = [pieces[at - 1], pieces[at + 1]]
    return {
      key: count === 0 ? key : `${key} ${count}`,
      conflict,
      kind: 'text',
      sides: piece.sides,
      between: isPhrase ? ' ' : piece.sides.target?.endsWith('\n') ? '' : '\n',
      around: isPhrase
        ? {
            before: (before && 'text' in before ? before.text : '').slice(-CONTEXT),
            after: (after && 'text' in after ? after.text : '').slice(0, CONTEXT),
          }
        : undefined,
    }
  })
  return { conflict, parts }
}

/** The characters of a line that are shown beside a passage. */
const CONTEXT = 90

function single(conflict: Conflict, kind: Block['kind'], sides: Sides): Conflicted {
  return { conflict, parts: [{ key: keyOf(conflict, sides), conflict, kind, sides, between: '' }] }
}

function keyOf({ place, in: side }: Conflict, { base, target, source }: Sides): string {
  return JSON.stringify([place, side ?? null, base ?? null, target ?? null, source ?? null])
}

function shown(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value, null, 2)
}

const MARKS = ['<<<<<<< target\n', '||||||| base\n', '=======\n', '>>>>>>> source\n'] as const
const MOST_TRIES = 400

/**
 * The merged text and the passages between git's marks. A text may contain lines that look like marks: what stands between them counts only if the
 * sides have it.
 */
function regionsOf(marked: string, sides: Sides): readonly (string | Sides)[] | undefined {
  const lines = marked.split(/(?<=\n)/)
  const found: (string | Sides)[] = []
  const from = { base: 0, target: 0, source: 0 }
  let plain = ''
  let tries = 0
  for (let at = 0; at < lines.length; at++) {
    const region = lines[at] === MARKS[0] ? regionAt(at) : undefined
    if (!region) {
      plain += lines[at] ?? ''
      continue
    }
    if (plain !== '') found.push(plain)
    plain = ''
    found.push(region.sides)
    at = region.end
  }
  if (plain !== '') found.push(plain)
  return found.some((it) => typeof it !== 'string') ? found : undefined

  function regionAt(start: number): { readonly sides: Sides; readonly end: number } | undefined {
    for (const middle of marksFrom(start + 1, 1)) {
      const target = partOf('target', start + 1, middle)
      if (!target) continue
      for (const second of marksFrom(middle + 1, 2)) {
        const base = partOf('base', middle + 1, second)
        if (!base) continue
        for (const end of marksFrom(second + 1, 3)) {
          const source = partOf('source', second + 1, end)
          if (!source) continue
          Object.assign(from, { base: base.end, target: target.end, source: source.end })
          return { sides: { base: base.text, target: target.text, source: source.text }, end }
        }
      }
    }
    return undefined
  }

  function* marksFrom(start: number, mark: 1 | 2 | 3): Generator<number> {
    for (let at = start; at < lines.length; at++) {
      if (lines[at] !== MARKS[mark]) continue
      if (++tries > MOST_TRIES + lines.length) return
      yield at
    }
  }

  /** A part of a side, with the line feed that git adds to a last line without one removed. */
  function partOf(
    side: keyof Sides,
    start: number,
    end: number,
  ): { readonly text: string; readonly end: number } | undefined {
    const text = lines.slice(start, end).join('')
    const whole = sides[side] ?? ''
    const at = whole.indexOf(text, from[side])
    if (at >= 0) return { text, end: at + text.length }
    return whole.endsWith(text.slice(0, -1)) ? { text: text.slice(0, -1), end: whole.length } : undefined
  }
}

/** Shorter lines are decided as a whole. */
const LONG_LINE = 200
/** More passages than this in one region are harder to read than the whole. */
const MOST_PHRASES = 6
/** Passages with no more than this many characters between them are one. */
const SHORT_GAP = 14
const MOST_TOKENS = 6000

type Piece = { readonly text: string } | { readonly sides: Sides }

/** Merges a region with long lines word by word: only the words that both sides changed are left to decide. Undefined if that does not help. */
function phrasesOf({ base, target, source }: Sides): readonly Piece[] | undefined {
  if (base === undefined || target === undefined || source === undefined) return undefined
  if (![base, target, source].some((it) => it.split('\n').some(({ length }) => length > LONG_LINE)))
    return undefined
  const [old, mine, other] = [wordsIn(base), wordsIn(target), wordsIn(source)]
  if (old.length + mine.length + other.length > MOST_TOKENS) return undefined
  const [inTarget, inSource] = [new Map(matchesOf(old, mine)), new Map(matchesOf(old, other))]
  const runs: { base: string; target: string; source: string }[] = []
  const at = { base: 0, target: 0, source: 0 }
  const take = (b: number, t: number, s: number): void => {
    runs.push({
      base: old.slice(at.base, b).join(''),
      target: mine.slice(at.target, t).join(''),
      source: other.slice(at.source, s).join(''),
    })
    Object.assign(at, { base: b, target: t, source: s })
  }
  for (let b = 0; b < old.length; b++) {
    const [t, s] = [inTarget.get(b), inSource.get(b)]
    if (t === undefined || s === undefined) continue
    if (b > at.base || t > at.target || s > at.source) take(b, t, s)
    take(b + 1, t + 1, s + 1)
  }
  take(old.length, mine.length, other.length)
  return joined(runs)
}

function joined(
  runs: readonly Required<{ base: string; target: string; source: string }>[],
): readonly Piece[] | undefined {
  const pieces: { sides: { base: string; target: string; source: string }; text: string | undefined }[] = []
  for (const run of runs) {
    const { base, target, source } = run
    const text = target === base ? source : source === base || source === target ? target : undefined
    const last = pieces.at(-1)
    const before = pieces.at(-2)
    if (
      text === undefined &&
      last?.text !== undefined &&
      before &&
      before.text === undefined &&
      last.text.length <= SHORT_GAP
    ) {
      // Two passages with a word between them are read as one.
      pieces.splice(-2, 2, { sides: plus(plus(before.sides, last.sides), run), text: undefined })
    } else if (last && (last.text === undefined) === (text === undefined)) {
      pieces[pieces.length - 1] = {
        sides: plus(last.sides, run),
        text: text === undefined ? undefined : `${last.text}${text}`,
      }
    } else pieces.push({ sides: run, text })
  }
  const open = pieces.filter(({ text }) => text === undefined).length
  if (open === 0 || open > MOST_PHRASES) return undefined
  return pieces.map(({ sides, text }) => (text === undefined ? { sides } : { text }))
}

function plus<S extends { base: string; target: string; source: string }>(one: S, two: S) {
  return { base: one.base + two.base, target: one.target + two.target, source: one.source + two.source }
}

function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^]/gu) ?? []
}

/** The text of a block as it is decided; undefined while it is open, or if the chosen side has nothing. */
export function textOfDecision(block: Block, decision: Decision | undefined): string | undefined {
  if (!decision) return undefined
  const { target, source } = block.sides
  if ('text' in decision) return decision.text
  return decision.take === 'both'
    ? `${target ?? ''}${block.between}${source ?? ''}`
    : block.sides[decision.take]
}

/** Why a decision cannot be sent; undefined if it can. */
export function problemOf(block: Block, decision: Decision | undefined): string | undefined {
  if (!decision || !('text' in decision) || block.kind === 'text') return undefined
  try {
    parseJson(decision.text)
    return undefined
  } catch (error) {
    return `This is not JSON yet: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The resolution of a decided conflict. */
export function resolutionOf(
  { conflict, parts }: Conflicted,
  decisions: ReadonlyMap<string, Decision>,
): Resolution {
  const at = { place: conflict.place, ...(conflict.in === undefined ? {} : { in: conflict.in }) }
  const [first] = parts
  if (parts.length === 1 && first !== undefined && typeof first !== 'string') {
    const decision = decisions.get(first.key)
    if (decision && 'take' in decision && decision.take !== 'both') return { ...at, take: decision.take }
    const text = textOfDecision(first, decision) ?? ''
    return { ...at, value: first.kind === 'text' ? text : parseJson(text) }
  }
  const texts = parts.map((it) =>
    typeof it === 'string' ? it : (textOfDecision(it, decisions.get(it.key)) ?? ''),
  )
  return { ...at, value: texts.join('') }
}

/** A place of a prompt or a testset in words. Roles of messages come from a caller that knows them. */
export function nameOfPlace({ place }: Conflict, roles: readonly string[] = []): string {
  if (typeof place === 'object') {
    if ('row' in place)
      return place.column === undefined
        ? `Row ${place.row.slice(0, 40)}`
        : `${place.column}, row ${place.row.slice(0, 40)}`
    if ('file' in place) return place.file
    return 'header' in place ? placeWords(place.header) : 'Order of the rows'
  }
  const message = /^\/parameters\/(?:prompt\/messages|prompt_template)(?:\/(\d+))?(.*)$/.exec(place)
  if (!message) return placeWords(place.replace(/^\/parameters(?:\/prompt)?(?:\/llm_config)?(?=\/)/, ''))
  if (message[1] === undefined) return 'Order of the messages'
  const role = roles[Number(message[1])]
  const name =
    role === undefined
      ? `Message ${Number(message[1]) + 1}`
      : `${role.slice(0, 1).toUpperCase()}${role.slice(1)} message`
  return message[2] === '' || message[2] === '/content'
    ? name
    : `${name}, ${placeWords(message[2] ?? '').toLowerCase()}`
}

function placeWords(pointer: string): string {
  const words = pointer
    .split('/')
    .slice(1)
    .map((it) => it.replaceAll('~1', '/').replaceAll('~0', '~').replaceAll('_', ' '))
    .join(' › ')
  return words === '' ? 'All data' : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** The roles of the messages of a prompt's data, for `nameOfPlace`. */
export function rolesIn(data: unknown): readonly string[] {
  const parameters = membersOf(membersOf(data)['parameters'])
  const messages = membersOf(parameters['prompt'])['messages'] ?? parameters['prompt_template']
  return Array.isArray(messages) ? messages.map((it) => String(membersOf(it)['role'] ?? 'message')) : []
}
