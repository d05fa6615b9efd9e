import type { Oid, TreeEntry } from '../../../git/objects/object.ts'
import { AlignmentSteps, alignMiddles, type Difference } from '../../../json/diff/align-numbers.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { DiffRequest, DiffSide, PresentedDiff } from '../../family/family.ts'
import { type ObjectReader, readBytes, readTree } from '../../family/tree-files.ts'
import type { RevisionLocation } from '../revision.ts'
import { Refusal } from '../../../errors.ts'
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

/** Bytes of the files that are compared, those of the payload aside, which commits have a limit for. */
const MOST_BYTES = 64 * 1024 * 1024

export interface DiffFilesOptions {
  /** Whether a file in the root is one of the payload. */
  readonly ownsFile: (name: string) => boolean
  /** Nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Each file of the trees that differs, as a unified text diff like `git diff` prints. Refuses with `limit_exceeded` what is more than an
 * answer can hold.
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

/** A file that is another one in two trees, or only in one of them. */
interface ChangedFile {
  readonly path: string
  readonly before: Oid | undefined
  readonly after: Oid | undefined
}

/** A tree to compare: its entries, and where those below are read from. */
interface TreeSide {
  readonly source: ObjectReader
  readonly entries: readonly TreeEntry[]
}

/** Entries of trees that a comparison looks at, and files that it finds. A tree that is the same on both sides is not looked into. */
const MOST_ENTRIES = 500_000
const MOST_FILES = 10_000
/** Characters of the paths that it finds. */
const LONGEST_PATHS = 16 * 1024 * 1024

/**
 * The files that differ between two trees, in order of path. Refuses with `limit_exceeded` when there are more than an answer can hold: git
 * may have brought trees that name one folder again and again.
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

/** The entries of one name, of which one at least is there. */
interface Pair {
  readonly old?: TreeEntry
  readonly now?: TreeEntry
}

/** The refusal to compare what nobody could read. */
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

/** Aligning takes the square of the lines that differ. */
const MAX_LINES_ALIGNED = 1000

/** Texts that have so many characters together, and no more changed lines than so many, are compared in some milliseconds. */
const LARGE = 100_000
const FEW_EDITS = 200

/** How many steps of alignment the files of one comparison may take, all together; the others are shown as removed and added whole. */
const STEPS_OF_DIFF = 8_000_000

/**
 * A file's change as `git diff` prints it, without the lines that only git needs; undefined stands for a file that is not
 * there. Two texts with too little in common are shown as removed and added whole. Large ones are compared in slices.
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
  if (oldText.length + newText.length <= LARGE) {
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: FEW_EDITS }
    const diff = createTwoFilesPatch(oldName, newName, oldText, newText, undefined, undefined, options)
    if (diff !== undefined) return diff
  }
  const hunks =
    (await diffLines(oldText, newText, MAX_LINES_ALIGNED, steps, slice)) ??
    (await replaceLines(oldText, newText, slice))
  return `--- ${oldName}\n+++ ${newName}\n${hunks}`
}

/** Lines shown around a change. */
const CONTEXT = 3

/** A text is put together from pieces of so many lines. */
const PIECE = 1000

/**
 * The hunks of a unified diff of two texts, in slices; undefined if they have so little in common that aligning them takes
 * more than `maxEdits` lines removed and added, or more than the steps that are left.
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

/** The texts as removed and added whole. */
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
