import { type AlignmentSteps, type Difference, alignNumbers } from '../../base/diff.ts'
import { type InSlices, Pace } from '../../base/scheduling.ts'
import { eachSide, type MergeEffort, type Sides, markedLines } from './merging.ts'

/** A merged text, or the text with both changes between marks if they conflict. */
export type MergedText = { readonly text: string } | { readonly marked: string }

/**
 * Merges a text by lines, and lines that both sides changed by words if allowed. Beyond one pass over the texts, it spends at most the
 * remaining effort: then it merges without words, and finally the whole text is a conflict.
 */
export function* mergeTexts(
  texts: Sides<string>,
  unit: 'words' | 'lines',
  effort: MergeEffort,
): InSlices<MergedText> {
  const lines = yield* takenApart(texts, linesIn)
  const runs = yield* mergeSequences(
    eachSide(lines, ({ numbers }) => numbers),
    effort.lines,
  )
  if (!runs) return { marked: markedLines(texts) }
  const merged: string[] = []
  let isWhole = true
  for (const run of runs) {
    const of = (side: keyof Sides<unknown>): string => lines[side].texts.slice(...run[side]).join('')
    if (run.changed !== 'differently') {
      merged.push(of(run.changed === 'source' ? 'source' : 'target'))
      continue
    }
    const parts = { base: of('base'), target: of('target'), source: of('source') }
    const text = unit === 'words' ? yield* mergeWords(parts, effort.words) : undefined
    if (text === undefined) isWhole = false
    merged.push(text ?? markedLines(parts))
  }
  return isWhole ? { text: merged.join('') } : { marked: merged.join('') }
}

/** The same by words; undefined if both sides changed the same words, or if the effort is spent. */
function* mergeWords(texts: Sides<string>, steps: AlignmentSteps): InSlices<string | undefined> {
  // Splitting texts takes effort, too.
  const length = texts.base.length + texts.target.length + texts.source.length
  if (steps.left < length) return undefined
  steps.left -= length
  const words = yield* takenApart(texts, wordsIn)
  const runs = yield* mergeSequences(
    eachSide(words, ({ numbers }) => numbers),
    steps,
  )
  if (!runs || runs.some(({ changed }) => changed === 'differently')) return undefined
  const pieces = (run: MergedRun): string =>
    run.changed === 'source'
      ? words.source.texts.slice(...run.source).join('')
      : words.target.texts.slice(...run.target).join('')
  return runs.map(pieces).join('')
}

/** The lines of a text, each with its line feed. */
function* linesIn(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed + 1
    yield text.slice(start, end)
    start = end
  }
}

function* wordsIn(text: string): Generator<string, void, undefined> {
  for (const [word] of text.matchAll(/[\p{L}\p{N}\p{M}_]+|\s|[^\s\p{L}\p{N}\p{M}_]/gu)) yield word
}

/** The pieces of a text, each with a number: equal pieces in the three texts have equal numbers. */
interface Pieces {
  readonly texts: string[]
  readonly numbers: number[]
}

function* takenApart(
  { base, target, source }: Sides<string>,
  piecesIn: (text: string) => Iterable<string>,
): InSlices<Sides<Pieces>> {
  const pace = new Pace()
  const known = new Map<string, number>()
  function* pieces(text: string): InSlices<Pieces> {
    const found: Pieces = { texts: [], numbers: [] }
    for (const piece of piecesIn(text)) {
      const number = known.get(piece) ?? known.size
      known.set(piece, number)
      found.texts.push(piece)
      found.numbers.push(number)
      if (pace.isDue) yield
    }
    return found
  }
  return { base: yield* pieces(base), target: yield* pieces(target), source: yield* pieces(source) }
}

/** A run of the three lists: its range in each, and the side that changed it. */
interface MergedRun extends Sides<readonly [from: number, to: number]> {
  readonly changed: 'nobody' | 'target' | 'source' | 'alike' | 'differently'
}

/** Maximum removed and added items that are searched for in a list: memory grows with the square. */
const MOST_EDITS = 2000

/**
 * The changes of two sides to a list, run by run (diff3): changed by one side, by both alike, or by both differently. Adjacent changes are
 * joined, as in git. Undefined if a side has too little in common with the base for the remaining steps.
 */
function* mergeSequences(
  { base, target, source }: Sides<readonly number[]>,
  steps: AlignmentSteps,
): InSlices<readonly MergedRun[] | undefined> {
  const ofTarget = yield* changesOf(base, target, steps)
  const ofSource = ofTarget && (yield* changesOf(base, source, steps))
  if (!ofTarget || !ofSource) return undefined
  const changes = { target: ofTarget, source: ofSource }
  const runs: MergedRun[] = []
  const next = { target: 0, source: 0 }
  const at = { base: 0, target: 0, source: 0 }
  const take = (end: Sides<number>, changed: MergedRun['changed']): void => {
    if (end.base > at.base || changed !== 'nobody') {
      runs.push({
        base: [at.base, end.base],
        target: [at.target, end.target],
        source: [at.source, end.source],
        changed,
      })
    }
    Object.assign(at, end)
  }
  for (;;) {
    const [ours, theirs] = [changes.target[next.target], changes.source[next.source]]
    if (!ours && !theirs) break
    const start = Math.min(ours?.from ?? Infinity, theirs?.from ?? Infinity)
    const skipped = start - at.base
    take({ base: start, target: at.target + skipped, source: at.source + skipped }, 'nobody')
    // Joins changes of either side that touch.
    let end = start
    const grown = { target: 0, source: 0 }
    const by = { target: false, source: false }
    for (let isGrowing = true; isGrowing;) {
      isGrowing = false
      for (const side of ['target', 'source'] as const) {
        const change = changes[side][next[side]]
        if (!change || change.from > end) continue
        end = Math.max(end, change.from + change.removed)
        grown[side] += change.added - change.removed
        by[side] = isGrowing = true
        next[side]++
      }
    }
    const length = end - start
    const ends = {
      base: end,
      target: at.target + length + grown.target,
      source: at.source + length + grown.source,
    }
    if (!by.source) take(ends, 'target')
    else if (!by.target) take(ends, 'source')
    else {
      const [mine, other] = [target.slice(at.target, ends.target), source.slice(at.source, ends.source)]
      const isAlike = mine.length === other.length && mine.every((item, index) => item === other[index])
      take(ends, isAlike ? 'alike' : 'differently')
    }
  }
  const rest = base.length - at.base
  take({ base: base.length, target: at.target + rest, source: at.source + rest }, 'nobody')
  return runs
}

/** The differences, each as far down as possible: among equal lines there are several choices, and this one is git's. */
function* changesOf(
  base: readonly number[],
  head: readonly number[],
  steps: AlignmentSteps,
): InSlices<readonly Difference[] | undefined> {
  const differences = yield* alignNumbers(base, head, MOST_EDITS, steps)
  return differences?.map((difference, index) => {
    const limit = differences[index + 1]?.from ?? base.length
    let { from, to } = difference
    const { removed, added } = difference
    const slides = (): boolean =>
      from + removed < limit &&
      ((added === 0 && base[from] === base[from + removed]) ||
        (removed === 0 && head[to] === head[to + added]))
    while (removed + added > 0 && slides()) {
      from++
      to++
    }
    return { from, removed, to, added }
  })
}
