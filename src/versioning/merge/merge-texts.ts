import type { MergedRun } from './merge-sequences.ts'
import { mergeSequences } from './merge-sequences.ts'
import type { Sides } from './merging.ts'
import { markedLines } from './merging.ts'

/** A merged text; or, where both sides changed the same, the text with both between marks. */
export type MergedText = { readonly text: string } | { readonly marked: string }

/** Merges a text by lines; where both sides changed the same lines, by words if they may be. */
export function mergeTexts(texts: Sides<string>, unit: 'words' | 'lines'): MergedText {
  const lines = piecesOf(texts, /[^\n]*\n|[^\n]+/g)
  const runs = mergeSequences(numbered(lines))
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
    const text = unit === 'words' ? mergeWords(parts) : undefined
    if (text === undefined) isWhole = false
    merged.push(text ?? markedLines(parts))
  }
  return isWhole ? { text: merged.join('') } : { marked: merged.join('') }
}

/** The same by words, undefined if both sides changed the same. */
function mergeWords(texts: Sides<string>): string | undefined {
  const words = piecesOf(texts, /[\p{L}\p{N}\p{M}_]+|\s|[^\s\p{L}\p{N}\p{M}_]/gu)
  const runs = mergeSequences(numbered(words))
  if (!runs || runs.some(({ changed }) => changed === 'differently')) return undefined
  const pieces = (run: MergedRun): string =>
    run.changed === 'source'
      ? words.source.slice(...run.source).join('')
      : words.target.slice(...run.target).join('')
  return runs.map(pieces).join('')
}

function piecesOf({ base, target, source }: Sides<string>, piece: RegExp): Sides<readonly string[]> {
  const pieces = (text: string): readonly string[] => text.match(piece) ?? []
  return { base: pieces(base), target: pieces(target), source: pieces(source) }
}

/** A number for each piece, the same for the same. */
function numbered({ base, target, source }: Sides<readonly string[]>): Sides<readonly number[]> {
  const known = new Map<string, number>()
  const numbers = (pieces: readonly string[]): number[] =>
    pieces.map((piece) => {
      const number = known.get(piece) ?? known.size
      known.set(piece, number)
      return number
    })
  return { base: numbers(base), target: numbers(target), source: numbers(source) }
}
