import { Refusal } from '../errors.ts'
import type { Fs } from '../git/fs.ts'
import type { Json } from '../json/json.ts'
import { parseJson } from '../json/parse-json.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import type { EvaluationPlan, RowResult } from './evaluation.ts'

/**
 * What is kept of an evaluation while it runs, and afterwards, in `<project>/evaluations/<id>.jsonl`: the plan, a line for each row
 * that is done, and a line when all are. Lines are added behind one another and count once they are synced; a line that a power cut
 * left half written is cut off.
 */
export class EvaluationLog {
  readonly plan: EvaluationPlan
  readonly #fs: Fs
  readonly #path: string

  private constructor(fs: Fs, path: string, plan: EvaluationPlan) {
    this.#fs = fs
    this.#path = path
    this.plan = plan
  }

  /** Begins one; resolves once it is on the disk. */
  static async create(fs: Fs, folder: string, plan: EvaluationPlan): Promise<EvaluationLog> {
    fs.makeDir(folder)
    const path = pathOf(folder, plan.id)
    await fs.createSynced(path, lineOf({ plan: plan as unknown as Json })) // a plan is plain JSON
    await fs.syncDir(folder)
    return new EvaluationLog(fs, path, plan)
  }

  /** The one of this id; undefined if there is none. */
  static open(fs: Fs, folder: string, id: string): EvaluationLog | undefined {
    const path = pathOf(folder, id)
    const [first] = wholeLines(fs, path)
    if (first === undefined) return undefined
    const { plan } = parsed(first, path) as { readonly plan?: EvaluationPlan } // written by create
    if (plan) return new EvaluationLog(fs, path, plan)
    throw new Refusal(
      'damaged_repository',
      `${path} does not begin with the plan of an evaluation. Remove it.`,
    )
  }

  /** The ids of all, the oldest first. */
  static ids(fs: Fs, folder: string): string[] {
    const names = fs.readDir(folder) ?? []
    return names.flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -'.jsonl'.length)] : [])).sort()
  }

  /** Adds rows; resolves once they are on the disk. */
  async add(results: readonly RowResult[]): Promise<void> {
    this.#fs.append(this.#path, Buffer.concat(results.map((row) => lineOf({ row: row as unknown as Json })))) // results hold JSON
    await this.#fs.sync(this.#path)
  }

  /** Says that all rows are done. */
  async finish(at: Date): Promise<void> {
    this.#fs.append(this.#path, lineOf({ finished_at: at.toISOString() }))
    await this.#fs.sync(this.#path)
  }

  /** What is there: each row that is done, in the order in which they were, and when all were. */
  *read(): Generator<RowResult, string | undefined> {
    let finishedAt: string | undefined
    for (const line of wholeLines(this.#fs, this.#path)) {
      const value = parsed(line, this.#path) as { readonly row?: RowResult; readonly finished_at?: string } // written by add and finish
      if (value.row) yield value.row
      finishedAt = value.finished_at ?? finishedAt
    }
    return finishedAt
  }

  /** Cuts off what a power cut left behind the last whole line, so that the next line begins at the start of one. */
  async mend(): Promise<void> {
    const bytes = this.#fs.readFile(this.#path) ?? Buffer.alloc(0)
    const end = bytes.lastIndexOf(NEWLINE) + 1
    if (end === bytes.length) return
    const temporary = `${this.#path}.new`
    this.#fs.remove(temporary)
    await this.#fs.createSynced(temporary, bytes.subarray(0, end))
    this.#fs.rename(temporary, this.#path)
  }
}

const NEWLINE = 0x0a

function pathOf(folder: string, id: string): string {
  return `${folder}/${id}.jsonl`
}

function lineOf(value: Json): Buffer {
  return Buffer.from(`${stringifyJson(value)}\n`)
}

/** The lines of a file, a piece of it in memory at a time. What follows the last newline was never answered for, and is left out. */
function* wholeLines(fs: Fs, path: string): Generator<string> {
  const file = fs.open(path)
  if (!file) return
  try {
    const piece = Buffer.alloc(PIECE)
    let rest = Buffer.alloc(0)
    for (let at = 0; ;) {
      const read = file.read(piece, at)
      if (read === 0) return
      at += read
      const bytes = Buffer.concat([rest, piece.subarray(0, read)])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        yield bytes.toString('utf8', start, end)
        start = end + 1
      }
      rest = bytes.subarray(start)
    }
  } finally {
    file.close()
  }
}

const PIECE = 256 * 1024

function parsed(line: string, path: string): unknown {
  try {
    return parseJson(line)
  } catch {
    throw new Refusal(
      'damaged_repository',
      `${path} has a line that is no JSON. Restore it from a backup, or remove it.`,
    )
  }
}
