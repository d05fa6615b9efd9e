import type { Oid, TreeEntry } from '../../git/objects.ts'
import { AlignmentSteps, alignMiddles, type Difference } from '../../base/diff.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { DiffRequest, DiffSide, PresentedDiff } from '../payload/family.ts'
import { type ObjectReader, readBytes, readTree } from '../payload/tree-files.ts'
import type { RevisionLocation } from './revision.ts'
import { Refusal } from '../../errors.ts'
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'

/** The difference between two revisions of a family, of one artifact or of two (interface 6.1, 8.24). */
export async function diffRevisions(
  base: RevisionLocation,
  head: RevisionLocation,
  asked: DiffRequest,
): Promise<PresentedDiff> {
  const { family } = base.artifact
  return family.diff(await readSide(base), await readSide(head), asked)
}

async function readSide({ artifact, oid }: RevisionLocation): Promise<DiffSide> {
  const { objects } = artifact.repository
  const { payload, commit } = await artifact.revisions.read(objects, oid)
  return {
    artifactId: artifact.id,
    source: objects,
    payload,
    entries: await readTree(objects, commit.tree),
  }
}

/** Maximum size of the compared files; payload files do not count, because commits limit these. */
const MOST_BYTES = 64 * 1024 * 1024

export interface DiffFilesOptions {
  /** Whether a file in the root belongs to the payload. */
  readonly ownsFile: (name: string) => boolean
  /** Aborts when the client is gone. */
  readonly signal?: AbortSignal | undefined
}

/**
 * A unified text diff, as `git diff` prints, for each file that differs. Throws `limit_exceeded` if the
 * answer would be too large.
 */
export async function diffFiles(
  base: DiffSide,
  head: DiffSide,
  { ownsFile, signal }: DiffFilesOptions,
): Promise<readonly { readonly path: string; readonly diff: string }[]> {
  const slice = new TimeSlice(signal)
  const files = []
  const steps = new AlignmentSteps(STEPS_OF_DIFF)
  let bytes = 0
  for (const { path, before, after } of await changedFiles(base, head, slice)) {
    const [old, now] = [await bytesOf(base.source, before), await bytesOf(head.source, after)]
    if (!ownsFile(path)) bytes += (old?.length ?? 0) + (now?.length ?? 0)
    if (bytes > MOST_BYTES) throw tooDifferent()
    const diff = await unifiedDiff(path, old?.toString('utf8'), now?.toString('utf8'), slice, steps)
    files.push({ path, diff })
    if (slice.isOver) await slice.rest()
  }
  return files
}

async function bytesOf(source: ObjectReader, oid: Oid | undefined): Promise<Buffer | undefined> {
  return oid === undefined ? undefined : readBytes(source, oid, 'blob')
}

/** A file that differs between two trees, or exists in only one. */
interface ChangedFile {
  readonly path: string
  readonly before: Oid | undefined
  readonly after: Oid | undefined
}

/** A tree to compare: its entries, and where its subtrees are read. */
interface TreeSide {
  readonly source: ObjectReader
  readonly entries: readonly TreeEntry[]
}

/** Limits on the entries compared and the files found. Equal subtrees are skipped. */
const MOST_ENTRIES = 500_000
const MOST_FILES = 10_000
/** Maximum total length of the paths found. */
const LONGEST_PATHS = 16 * 1024 * 1024

/**
 * The files that differ between two trees, sorted by path. Throws `limit_exceeded` for too many: a push may
 * bring trees that repeat one folder.
 */
async function changedFiles(
  before: TreeSide,
  after: TreeSide,
  slice: TimeSlice,
): Promise<readonly ChangedFile[]> {
  const files: ChangedFile[] = []
  let [looked, length] = [0, 0]
  await compare('', before.entries, after.entries)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))

  async function compare(
    folder: string,
    old: readonly TreeEntry[],
    now: readonly TreeEntry[],
  ): Promise<void> {
    looked += old.length + now.length
    if (looked > MOST_ENTRIES) throw tooDifferent()
    const names = new Map(now.map((entry): [string, Pair] => [entry.name, { now: entry }]))
    for (const entry of old) names.set(entry.name, { ...names.get(entry.name), old: entry })
    await slice.each(names, ([name, pair]) => {
      const path = `${folder}${name}`
      add(path, fileIn(pair.old), fileIn(pair.now))
      const [oldTree, newTree] = [folderIn(pair.old), folderIn(pair.now)]
      return oldTree === newTree ? undefined : compareBelow(`${path}/`, oldTree, newTree)
    })
  }

  async function compareBelow(folder: string, old: Oid | undefined, now: Oid | undefined): Promise<void> {
    const entriesOf = async (source: ObjectReader, tree: Oid | undefined): Promise<readonly TreeEntry[]> =>
      tree === undefined ? [] : readTree(source, tree)
    await compare(folder, await entriesOf(before.source, old), await entriesOf(after.source, now))
    if (slice.isOver) await slice.rest()
  }

  function add(path: string, old: Oid | undefined, now: Oid | undefined): void {
    if (old === now) return
    files.push({ path, before: old, after: now })
    length += path.length
    if (files.length > MOST_FILES || length > LONGEST_PATHS) throw tooDifferent()
  }
}

/** The entries of one name; at least one exists. */
interface Pair {
  readonly old?: TreeEntry
  readonly now?: TreeEntry
}

function tooDifferent(): Refusal {
  return new Refusal(
    'limit_exceeded',
    `The revisions differ in more than ${MOST_FILES} files, or in more text than an answer can hold. Clone the repository and compare them ` +
      `there (git diff --stat).`,
    { details: { limit: MOST_FILES } },
  )
}

function fileIn(entry: TreeEntry | undefined): Oid | undefined {
  return entry?.mode === '100644' || entry?.mode === '100755' ? entry.oid : undefined
}

function folderIn(entry: TreeEntry | undefined): Oid | undefined {
  return entry?.mode === '40000' ? entry.oid : undefined
}

/** Alignment cost grows with the square of the lines that differ. */
const MAX_LINES_ALIGNED = 1000

/**
 * Texts up to this total length, with at most this many changed lines, are compared in a few milliseconds.
 */
const MAX_QUICK_CHARACTERS = 100_000
const MAX_QUICK_EDITS = 200

/**
 * Alignment steps for all files of one comparison; beyond these, files are shown as removed and added whole.
 */
const STEPS_OF_DIFF = 8_000_000

/**
 * A file's change as `git diff` prints it, without the lines only git needs; undefined stands for a missing
 * file. Texts with too little in common are shown as removed and added whole. Large texts are compared in
 * slices.
 */
export async function unifiedDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
  slice = new TimeSlice(),
  steps = new AlignmentSteps(STEPS_OF_DIFF),
): Promise<string> {
  const [oldName, newName] = [
    before === undefined ? '/dev/null' : `a/${path}`,
    after === undefined ? '/dev/null' : `b/${path}`,
  ]
  const [oldText, newText] = [before ?? '', after ?? '']
  if (oldText.length + newText.length <= MAX_QUICK_CHARACTERS) {
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: MAX_QUICK_EDITS }
    const diff = createTwoFilesPatch(oldName, newName, oldText, newText, undefined, undefined, options)
    if (diff !== undefined) return diff
  }
  const hunks =
    (await diffLines(oldText, newText, MAX_LINES_ALIGNED, steps, slice)) ??
    (await replaceLines(oldText, newText, slice))
  return `--- ${oldName}\n+++ ${newName}\n${hunks}`
}

const CONTEXT_LINES = 3

const LINES_PER_PIECE = 1000

/**
 * The hunks of a unified diff of two texts, in slices. Undefined if aligning them takes more than `maxEdits`
 * removed and added lines, or more than the remaining steps.
 */
async function diffLines(
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

/** The hunk that removes and adds the whole texts. */
async function replaceLines(before: string, after: string, slice: TimeSlice): Promise<string> {
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
    if (lines.length % LINES_PER_PIECE === 0 && slice.isOver) await slice.rest()
  }
  return lines
}

/** Numbers lines so that equal lines have equal numbers. */
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

/** Groups differences whose context overlaps. */
function* grouped(differences: readonly Difference[]): Generator<readonly Difference[]> {
  let group: Difference[] = []
  for (const difference of differences) {
    const last = group.at(-1)
    if (last && difference.from - (last.from + last.removed) > 2 * CONTEXT_LINES) {
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
    const lead = Math.min(CONTEXT_LINES, first.from)
    const [from, to] = [first.from - lead, first.to - lead]
    const end = Math.min(this.#old.length, last.from + last.removed + CONTEXT_LINES)
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
    for (let at = from; at < to; at += LINES_PER_PIECE) {
      const piece = lines.slice(at, Math.min(to, at + LINES_PER_PIECE))
      this.#pieces.push(piece.map((line) => mark + (line.endsWith('\n') ? line : line + NO_FEED)).join(''))
      if (this.#slice.isOver) await this.#slice.rest()
    }
  }
}

const NO_FEED = '\n\\ No newline at end of file\n'

/** Lines are counted from 1; for an empty range, git names the line before it. */
function range(from: number, to: number): string {
  return `${to === from ? from : from + 1},${to - from}`
}
