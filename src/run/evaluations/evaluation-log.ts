import { TimeSlice, yieldToEventLoop } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import { type Lease, documentsOf, type Fs } from '../../storage/files.ts'
import { type Json, stringifyJson } from '../../base/json.ts'
import { parseUuid } from '../../registry/registries.ts'
import type { EvaluationEnd, EvaluationPlan, RowResult } from './evaluation.ts'
import { type LogLine, readLogLine } from './log-lines.ts'

/**
 * The log of an evaluation, `<project>/evaluations/<id>.jsonl`: the plan, a line for each finished row, and at the end a line with the
 * summary, which marks the evaluation as finished. Lines are appended and count once they are synced. A line that a power cut left incomplete
 * is removed.
 */
export class EvaluationLog {
  readonly plan: EvaluationPlan
  readonly #fs: Fs
  readonly #path: string

  private constructor(fs: Fs, folder: string, plan: EvaluationPlan) {
    this.#fs = fs
    this.#path = pathOf(folder, plan.id)
    this.plan = plan
  }

  /** Creates a log; resolves when it is on the disk. */
  static async create(fs: Fs, folder: string, plan: EvaluationPlan): Promise<EvaluationLog> {
    await documentsOf(fs).put(pathOf(folder, plan.id), lineOf({ plan: plan as unknown as Json })) // a plan is plain JSON
    return new EvaluationLog(fs, folder, plan)
  }

  /**
   * Opens the log of an evaluation; undefined if there is none, or its first line is incomplete. Refuses a log that does not begin with the
   * evaluation's plan.
   */
  static open(fs: Fs, folder: string, id: string): EvaluationLog | undefined {
    const path = pathOf(folder, id)
    const [first] = wholeLines(fs, path, 0)
    if (first === undefined) return undefined
    const { plan } = parsed(first.text, path)
    // The path of further rows is derived from the id.
    if (plan?.id === id) return new EvaluationLog(fs, folder, plan)
    throw new Refusal(
      'damaged_repository',
      `${path} does not begin with the plan of the evaluation ${id}. Restore it from a backup, or remove it.`,
    )
  }

  /** The ids of all logs, oldest first. */
  static ids(fs: Fs, folder: string): string[] {
    const names = fs.readDir(folder) ?? []
    const ids = names.flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -'.jsonl'.length)] : []))
    return ids.filter((id) => parseUuid(id) === id).sort()
  }

  /** Appends rows, under the lease of the evaluation; resolves when they are on the disk. */
  add(lease: Lease, results: readonly RowResult[]): Promise<void> {
    const lines = results.map((row) => lineOf({ row: row as unknown as Json })) // results are JSON
    return lease.append(this.#path, Buffer.concat(lines))
  }

  /** Appends the line that marks the evaluation as finished, under its lease. */
  finish(lease: Lease, end: EvaluationEnd): Promise<void> {
    return lease.append(this.#path, lineOf({ end: end as unknown as Json })) // plain JSON
  }

  /**
   * Replaces the rows of the same testcases, each at its place, and the end, at once. Resolves when this is on the disk. Refuses a log that
   * is too large to be written anew.
   */
  async replace(lease: Lease, results: readonly RowResult[], end: EvaluationEnd): Promise<void> {
    const bytes = this.#fs.readFile(this.#path) ?? Buffer.alloc(0)
    if (bytes.length > MAX_BYTES_WRITTEN_ANEW) throw tooLarge(this.plan.id)
    const anew = new Map(results.map((row) => [row.testcase_id, lineOf({ row: row as unknown as Json })]))
    const parts: Buffer[] = []
    let kept = 0
    for await (const row of this.rows()) {
      const line = anew.get(row.testcaseId)
      if (!line) continue
      parts.push(bytes.subarray(kept, row.place.begin), line)
      kept = row.place.end
    }
    const beforeEnd = bytes.lastIndexOf(NEWLINE, bytes.length - 2) + 1
    parts.push(bytes.subarray(kept, beforeEnd), lineOf({ end: end as unknown as Json }))
    await lease.put(this.#path, Buffer.concat(parts))
  }

  /** Differs after every change of the log. */
  get stamp(): string {
    const stat = this.#fs.stat(this.#path)
    return stat ? `${stat.inode} ${stat.modified} ${stat.size}` : ''
  }

  /** How the evaluation ended; undefined if it is not finished. Reads only the last line. */
  end(): EvaluationEnd | undefined {
    const file = this.#fs.open(this.#path)
    if (!file) return undefined
    try {
      const tail = Buffer.alloc(Math.min(file.size, MAX_BYTES_OF_END))
      const got = tail.subarray(0, file.read(tail, file.size - tail.length))
      const stop = got.lastIndexOf(NEWLINE)
      const start = stop < 0 ? -1 : got.lastIndexOf(NEWLINE, stop - 1)
      const line = start < 0 ? '' : got.toString('utf8', start + 1, stop)
      return line.startsWith('{"end":') ? parsed(line, this.#path).end : undefined
    } finally {
      file.close()
    }
  }

  /** The finished rows in the order of completion, starting at byte `from`. Yields to other work after each piece of the file. */
  async *rows(from = 0): AsyncGenerator<LoggedRow> {
    let begin = from
    for (const { text, end, endsPiece } of wholeLines(this.#fs, this.#path, from)) {
      if (text.startsWith(ROW)) yield new LoggedRow(text, { begin, end }, this.#path)
      begin = end
      if (endsPiece) await yieldToEventLoop()
    }
  }

  /** The place of each testcase's row, in the order of completion. */
  async places(): Promise<Map<string, RowPlace>> {
    const places = new Map<string, RowPlace>()
    for await (const row of this.rows()) places.set(row.testcaseId, row.place)
    return places
  }

  /** The rows at these places, in their order, read one by one. */
  async *rowsAt(places: Iterable<RowPlace>): AsyncGenerator<LoggedRow> {
    const file = this.#fs.open(this.#path)
    if (!file) return
    const slice = new TimeSlice()
    try {
      for (const place of places) {
        const line = Buffer.alloc(place.end - place.begin - 1) // without its newline
        file.read(line, place.begin)
        const text = line.toString('utf8')
        if (!text.startsWith(ROW)) throw damaged(this.#path)
        yield new LoggedRow(text, place, this.#path)
        await slice.pause()
      }
    } finally {
      file.close()
    }
  }

  /** Cuts off an incomplete last line after a power cut, so that the next line starts at the beginning of a line. */
  async mend(lease: Lease): Promise<void> {
    if (this.#endsWhole()) return
    const bytes = this.#fs.readFile(this.#path) ?? Buffer.alloc(0)
    await lease.put(this.#path, bytes.subarray(0, bytes.lastIndexOf(NEWLINE) + 1))
  }

  #endsWhole(): boolean {
    const file = this.#fs.open(this.#path)
    if (!file) return true
    try {
      const last = Buffer.alloc(1)
      return file.size === 0 || (file.read(last, file.size - 1) === 1 && last[0] === NEWLINE)
    } finally {
      file.close()
    }
  }
}

/** The byte range of a line in a log; `end` is after the newline. */
export interface RowPlace {
  readonly begin: number
  readonly end: number
}

/** A row of a log. It is parsed on `read` only, because a search skips many rows. */
export class LoggedRow {
  readonly place: RowPlace
  readonly #text: string
  readonly #path: string

  constructor(text: string, place: RowPlace, path: string) {
    this.place = place
    this.#text = text
    this.#path = path
  }

  get testcaseId(): string {
    const id = this.#text.slice(ROW.length, this.#text.indexOf('"', ROW.length))
    // A slice would keep the whole line in memory.
    return Buffer.from(id).toString()
  }

  isOf(testcaseId: string): boolean {
    return this.#text.startsWith(testcaseId, ROW.length)
  }

  read(): RowResult {
    const { row } = parsed(this.#text, this.#path)
    if (row) return row
    throw damaged(this.#path)
  }
}

const NEWLINE = 0x0a

const MAX_BYTES_WRITTEN_ANEW = 256 * 1024 * 1024

function tooLarge(id: string): Refusal {
  return new Refusal(
    'limit_exceeded',
    `The results of the evaluation ${id} have more than ${MAX_BYTES_WRITTEN_ANEW / 1024 ** 2} MiB, so single rows cannot be replaced. Start ` +
      'another evaluation with POST /evaluations/run.',
    { details: { limit: MAX_BYTES_WRITTEN_ANEW } },
  )
}

/** The start of a row's line: `testcase_id` is the first member of a `RowResult`. */
const ROW = '{"row":{"testcase_id":"'

/** Larger than the summary of the maximum number of evaluators. */
const MAX_BYTES_OF_END = 64 * 1024

function pathOf(folder: string, id: string): string {
  return `${folder}/${id}.jsonl`
}

function lineOf(value: Json): Buffer {
  return Buffer.from(`${stringifyJson(value)}\n`)
}

interface Line {
  readonly text: string
  /** The offset after the newline. */
  readonly end: number
  /** Whether the next line has to be read from the disk. */
  readonly endsPiece: boolean
}

/** The complete lines of a file, read in pieces. An incomplete last line was never acknowledged and is skipped. */
function* wholeLines(fs: Fs, path: string, from: number): Generator<Line> {
  const file = fs.open(path)
  if (!file) return
  try {
    const piece = Buffer.alloc(Math.max(1, Math.min(BYTES_PER_PIECE, file.size - from)))
    let rest = Buffer.alloc(0)
    for (let at = from; ;) {
      const read = file.read(piece, at)
      if (read === 0) return
      const begin = at - rest.length
      at += read
      const bytes = Buffer.concat([rest, piece.subarray(0, read)])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end >= 0;) {
        const next = bytes.indexOf(NEWLINE, end + 1)
        yield { text: bytes.toString('utf8', start, end), end: begin + end + 1, endsPiece: next < 0 }
        start = end + 1
        end = next
      }
      rest = bytes.subarray(start)
    }
  } finally {
    file.close()
  }
}

const BYTES_PER_PIECE = 256 * 1024

/** Refuses a line that no evaluation writes. */
function parsed(text: string, path: string): LogLine {
  const line = readLogLine(text)
  if (line) return line
  throw damaged(path)
}

function damaged(path: string): Refusal {
  return new Refusal(
    'damaged_repository',
    `${path} has a line that no evaluation wrote. Restore it from a backup, or remove it.`,
  )
}
