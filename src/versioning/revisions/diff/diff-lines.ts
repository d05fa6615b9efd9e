import { type AlignmentSteps, alignMiddles, type Difference } from '../../../json/diff/align-numbers.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'

/** Lines shown around a change. */
const CONTEXT = 3

/** A text is put together from pieces of so many lines. */
const PIECE = 1000

/**
 * The hunks of a unified diff of two texts, in slices; undefined if they have so little in common that aligning them takes
 * more than `maxEdits` lines removed and added, or more than the steps that are left.
 */
export async function diffLines(
  before: string,
  after: string,
  maxEdits: number,
  steps: AlignmentSteps,
  slice: TimeSlice,
): Promise<string | undefined> {
  const numbers = new Map<string, number>()
  const [old, now] = [await linesOf(before, slice), await linesOf(after, slice)]
  const [from, to] = [await numbered(old, numbers, slice), await numbered(now, numbers, slice)]
  const differences = await slice.run(alignMiddles(from, to, maxEdits, steps))
  if (differences === undefined) return undefined
  const writer = new HunkWriter(old, now, slice)
  for (const group of grouped(differences)) await writer.hunk(group)
  return writer.end()
}

/** The texts as removed and added whole. */
export async function replaceLines(before: string, after: string, slice: TimeSlice): Promise<string> {
  const [old, now] = [await linesOf(before, slice), await linesOf(after, slice)]
  const writer = new HunkWriter(old, now, slice)
  await writer.hunk([{ from: 0, removed: old.length, to: 0, added: now.length }])
  return writer.end()
}

/** The lines, each with its line feed. */
async function linesOf(text: string, slice: TimeSlice): Promise<readonly string[]> {
  const lines: string[] = []
  for (let start = 0; start < text.length;) {
    const feed = text.indexOf('\n', start)
    const end = feed < 0 ? text.length : feed + 1
    lines.push(text.slice(start, end))
    start = end
    if (lines.length % PIECE === 0 && slice.isOver) await slice.rest()
  }
  return lines
}

/** A number for each line, the same for the same text. */
async function numbered(
  lines: readonly string[],
  numbers: Map<string, number>,
  slice: TimeSlice,
): Promise<number[]> {
  const list: number[] = []
  await slice.each(lines, (line) => {
    const number = numbers.get(line) ?? numbers.size
    numbers.set(line, number)
    list.push(number)
  })
  return list
}

/** Differences whose surroundings touch are shown together. */
function* grouped(differences: readonly Difference[]): Generator<readonly Difference[]> {
  let group: Difference[] = []
  for (const difference of differences) {
    const last = group.at(-1)
    if (last && difference.from - (last.from + last.removed) > 2 * CONTEXT) {
      yield group
      group = []
    }
    group.push(difference)
  }
  if (group.length > 0) yield group
}

class HunkWriter {
  readonly #old: readonly string[]
  readonly #now: readonly string[]
  readonly #slice: TimeSlice
  readonly #pieces: string[] = []

  constructor(old: readonly string[], now: readonly string[], slice: TimeSlice) {
    this.#old = old
    this.#now = now
    this.#slice = slice
  }

  async hunk(group: readonly Difference[]): Promise<void> {
    const [first, last] = [group[0], group.at(-1)]
    if (!first || !last) return
    const lead = Math.min(CONTEXT, first.from)
    const [from, to] = [first.from - lead, first.to - lead]
    const end = Math.min(this.#old.length, last.from + last.removed + CONTEXT)
    const newEnd = last.to + last.added + (end - last.from - last.removed)
    this.#pieces.push(`@@ -${range(from, end)} +${range(to, newEnd)} @@\n`)
    let at = from
    for (const { from: start, removed, to: newStart, added } of group) {
      await this.#lines(' ', this.#old, at, start)
      await this.#lines('-', this.#old, start, start + removed)
      await this.#lines('+', this.#now, newStart, newStart + added)
      at = start + removed
    }
    await this.#lines(' ', this.#old, at, end)
  }

  end(): string {
    return this.#pieces.join('')
  }

  async #lines(mark: string, lines: readonly string[], from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += PIECE) {
      const piece = lines.slice(at, Math.min(to, at + PIECE))
      this.#pieces.push(piece.map((line) => mark + (line.endsWith('\n') ? line : line + NO_FEED)).join(''))
      if (this.#slice.isOver) await this.#slice.rest()
    }
  }
}

const NO_FEED = '\n\\ No newline at end of file\n'

/** Lines are counted from 1; of none, git names the line before them. */
function range(from: number, to: number): string {
  return `${to === from ? from : from + 1},${to - from}`
}
