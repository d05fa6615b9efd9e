import type { AlignmentSteps } from '../../json/diff/align-numbers.ts'
import type { InSlices } from '../../scheduling/cooperative.ts'
import { Pace } from '../../scheduling/cooperative.ts'
import type { MergedRun } from './merge-sequences.ts'
import { mergeSequences } from './merge-sequences.ts'
import type { MergeEffort, Sides } from './merging.ts'
import { markedLines } from './merging.ts'

/** A merged text; or, where both sides changed the same, the text with both between marks. */
export type MergedText = { readonly text: string } | { readonly marked: string }

/**
 * Merges a text by lines; where both sides changed the same lines, by words if they may be. Beyond one pass over the texts it takes no more
 * than is left of the effort: then it does without words, and in the end the whole text is in conflict.
 */
export function* mergeTexts(
  texts: Sides<string>,
  unit: 'words' | 'lines',
  effort: MergeEffort,
): InSlices<MergedText> {
  const lines = yield* piecesOf(texts, linesIn)
  const runs = yield* mergeSequences(yield* numbered(lines), effort.lines)
  if (!runs) return { marked: markedLines(texts) }
  const merged: string[] = []
  let isWhole = true
  for (const run of runs) {
    const of = (side: keyof Sides<unknown>): string => lines[side].slice(...run[side]).join('')
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

/** The same by words; undefined if both sides changed the same, or if that is too much to tell. */
function* mergeWords(texts: Sides<string>, steps: AlignmentSteps): InSlices<string | undefined> {
  // Taking texts apart is work, too.
  const length = texts.base.length + texts.target.length + texts.source.length
  if (steps.left < length) return undefined
  steps.left -= length
  const words = yield* piecesOf(texts, wordsIn)
  const runs = yield* mergeSequences(yield* numbered(words), steps)
  if (!runs || runs.some(({ changed }) => changed === 'differently')) return undefined
  const pieces = (run: MergedRun): string =>
    run.changed === 'source'
      ? words.source.slice(...run.source).join('')
      : words.target.slice(...run.target).join('')
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

function* piecesOf(
  { base, target, source }: Sides<string>,
  piecesIn: (text: string) => Iterable<string>,
): InSlices<Sides<readonly string[]>> {
  const pace = new Pace()
  function* pieces(text: string): InSlices<readonly string[]> {
    const found: string[] = []
    for (const piece of piecesIn(text)) {
      found.push(piece)
      if (pace.isDue) yield
    }
    return found
  }
  return { base: yield* pieces(base), target: yield* pieces(target), source: yield* pieces(source) }
}

/** A number for each piece, the same for the same. */
function* numbered({ base, target, source }: Sides<readonly string[]>): InSlices<Sides<readonly number[]>> {
  const pace = new Pace()
  const known = new Map<string, number>()
  function* numbers(pieces: readonly string[]): InSlices<readonly number[]> {
    const found: number[] = []
    for (const piece of pieces) {
      const number = known.get(piece) ?? known.size
      known.set(piece, number)
      found.push(number)
      if (pace.isDue) yield
    }
    return found
  }
  return { base: yield* numbers(base), target: yield* numbers(target), source: yield* numbers(source) }
}
