import { Refusal } from '../../errors.ts'
import { DatabaseTrouble } from '../../storage/sqlite.ts'
import { exactSpan, type SpanRow, type StoredSpan } from '../../feeds/traces.ts'
import type {
  BroughtUpTo,
  FoundSpan,
  NamedRow,
  SpanKey,
  SpanTable,
  WalkedSpan,
  WalkPlace,
  WalkStep,
} from './span-table.ts'
import type { Ask, Database, Statement } from './database.ts'
import { codeOf, isWorthAnotherTry } from './errors.ts'
import * as sql from './span-sql.ts'

const MAX_ATTEMPTS = 5

const TRACES_PER_DELETE = 1000

/** The spans of all projects in PostgreSQL. */
export class PostgresSpans implements SpanTable {
  readonly #database: Pick<Database, 'query' | 'transaction' | 'close'>

  constructor(database: Pick<Database, 'query' | 'transaction' | 'close'>) {
    this.#database = database
  }

  async reach(): Promise<void> {
    await this.#query({ text: 'select', timeoutMs: REACH_MS })
  }

  async write(project: string, spans: readonly StoredSpan[], upTo?: BroughtUpTo): Promise<void> {
    const values = [project, ...columnsOf(spans), ...(upTo ? [noteOf(upTo.file), upTo.last] : [])]
    const [name, text] = upTo ? ['spans_record_up_to', sql.RECORD_UP_TO] : ['spans_record', sql.RECORD]
    for (let attempt = 1; ; attempt++) {
      try {
        const [row] = await this.#query<{ missing: readonly string[] | null }>({
          name,
          text,
          values,
          timeoutMs: WRITE_MS,
        })
        if (!row?.missing) return
        for (const day of row.missing) await this.#ask('make_day', sql.MAKE_DAY, [day])
      } catch (error) {
        // The day's partition was removed meanwhile.
        if (attempt === MAX_ATTEMPTS || codeOf(error) !== NO_PARTITION) throw error
      }
    }
  }

  async broughtUpTo(file: string): Promise<string | undefined> {
    return (await this.#ask<{ mark: string }>('brought_up_to', sql.BROUGHT_UP_TO, [noteOf(file)]))[0]?.mark
  }

  async forgetBrought(file: string): Promise<void> {
    await this.#ask('forget_brought', sql.FORGET_BROUGHT, [noteOf(file)])
  }

  async spansOf(
    project: string,
    traceIds: readonly string[],
    headsOnly: boolean,
  ): Promise<readonly SpanRow[]> {
    const [name, text] = headsOnly ? ['heads_of', sql.HEADS_OF] : ['of', sql.SPANS_OF]
    const rows = await this.#ask<SpanRow>(name, text, [project, traceIds])
    return rows.map(exactSpan)
  }

  async walk(project: string, step: WalkStep, timeoutMs: number): Promise<readonly WalkedSpan[]> {
    const { text, values } = sql.walkQuestion(project, step)
    const rows = await this.#inTransaction(walking(timeoutMs), (ask) => ask<WalkedSpan>(text, values))
    return rows.map(exactSpan)
  }

  async placeOf(project: string, named: NamedRow): Promise<WalkPlace | undefined> {
    const { text, values } = sql.placeQuestion(project, named)
    const [row] = await this.#query<{ start: string; id: string }>({ text, values })
    return row && [row.start, row.id]
  }

  spansWith(
    project: string,
    text: string,
    behind: SpanKey | undefined,
    timeoutMs: number,
  ): Promise<readonly FoundSpan[]> {
    const { day = null, traceId = null, spanId = null } = behind ?? {}
    return this.#inTransaction(walking(timeoutMs), (ask) =>
      ask<FoundSpan>(sql.SPANS_WITH, [project, text, day, traceId, spanId]),
    )
  }

  async remove(project: string, traceId: string): Promise<boolean> {
    return (await this.#removeTraces(project, [traceId])) > 0
  }

  async removeDays(before: string): Promise<boolean> {
    const [oldest] = await this.#ask<{ day: string }>('oldest_day', sql.OLDEST_DAY, [before])
    if (!oldest) return false
    // Delete the traces first, in parts, because the table cannot be used while its partition is dropped.
    if (
      (await this.#count('forget_day', sql.FORGET_DAY, [oldest.day, TRACES_PER_DELETE])) === TRACES_PER_DELETE
    )
      return true
    return this.#dropDay(oldest.day)
  }

  async shrink(project: string, maxBytes: number): Promise<boolean> {
    const [size] = await this.#ask<{ bytes: string }>('size', sql.SIZE, [project, maxBytes])
    const excess = Number(size?.bytes ?? 0) - maxBytes
    if (excess <= 0) return false
    const oldest = await this.#ask<{ trace_id: string }>('oldest', sql.OLDEST, [
      project,
      excess,
      TRACES_PER_DELETE,
    ])
    const ids = oldest.map(({ trace_id: id }) => id)
    return (await this.#removeTraces(project, ids)) === TRACES_PER_DELETE
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  /**
   * Drops a day's partition and its remaining traces. Answers whether more days may remain; false if the table is in use, and then the next
   * round tries again.
   */
  async #dropDay(day: string): Promise<boolean> {
    if (!/^[0-9-]+$/.test(day)) throw new Error(`"${day}" is no day of spans`)
    try {
      await this.#inTransaction(`begin; set local lock_timeout = ${LOCK_MS}`, async (ask) => {
        await ask('lock table branchpoint.spans in access exclusive mode')
        // Another server may have dropped it meanwhile.
        await ask(`drop table if exists branchpoint."spans_${day}"`)
        await ask('delete from branchpoint.traces where day = $1', [day])
      })
      return true
    } catch (error) {
      if (codeOf(error) === LOCK_NOT_HAD) return false
      throw error
    }
  }

  /** Removes traces, including spans that are recorded meanwhile. Answers their number. */
  #removeTraces(project: string, traceIds: readonly string[]): Promise<number> {
    return this.#inTransaction('begin isolation level read committed', async (ask) => {
      await ask(sql.LOCK_TRACES, [project, traceIds])
      const [row] = await ask<{ count: string }>(sql.REMOVE, [project, traceIds])
      return Number(row?.count ?? 0)
    })
  }

  async #count(name: string, text: string, values: readonly unknown[]): Promise<number> {
    const [row] = await this.#ask<{ count: string }>(name, text, values)
    return Number(row?.count ?? 0)
  }

  #ask<Row>(name: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#query({ name: `spans_${name}`, text, values })
  }

  #query<Row>(statement: Statement): Promise<readonly Row[]> {
    return withTrouble(() => this.#database.query<Row>(statement))
  }

  #inTransaction<T>(begin: string, work: (ask: Ask) => Promise<T>): Promise<T> {
    return withTrouble(() => this.#database.transaction(begin, work))
  }
}

/** The stream whose mark says how far a file was imported. */
function noteOf(file: string): string {
  return `traces of the file ${file}`
}

/** Starts the transaction of a walk. */
function walking(timeoutMs: number): string {
  return `begin read only; set local statement_timeout = ${timeoutMs}; ${BY_THE_INDEXES}`
}

/** The indexes have the order of the walks. Without these settings the planner may read and sort all rows although few are wanted. */
const BY_THE_INDEXES = ['sort', 'seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']
  .map((way) => `set local enable_${way} = off`)
  .join('; ')

/** Writing that takes longer (milliseconds) goes to another host, because a primary without its standbys never acknowledges it. */
const WRITE_MS = 10_000

/** A database that does not answer within this time (milliseconds) is searched for again. */
const REACH_MS = 2000

/** How long (milliseconds) dropping a day waits for other transactions, which also block new ones behind it. */
const LOCK_MS = 2000

const LOCK_NOT_HAD = '55P03'
const NO_PARTITION = '23514'

/** Runs an action, and repeats it after a deadlock or similar conflict. Rejects with `DatabaseTrouble` if it may succeed later. */
async function withTrouble<T>(carryOut: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await carryOut()
    } catch (error) {
      if (attempt < MAX_ATTEMPTS && isWorthAnotherTry(error) && codeOf(error) !== LOCK_NOT_HAD) continue
      throw mayGoLater(error) ? new DatabaseTrouble((error as Error).message, false) : error
    }
  }
}

/** Whether the error is about the state of the database. Invalid values (class 22), invalid rows (23) and a lock timeout are not. */
function mayGoLater(error: unknown): boolean {
  const code = codeOf(error)
  if (code === LOCK_NOT_HAD) return false
  return error instanceof Refusal || (code !== undefined && !/^2[23]/.test(code))
}

/** The arguments of record_spans after the project. If a span occurs twice, its last version counts, at the place of the first. */
function columnsOf(spans: readonly StoredSpan[]): unknown[] {
  const unique = [...new Map(spans.map((span) => [`${span.trace_id}.${span.span_id}`, span])).values()]
  const starts = new Map<string, string>()
  for (const { trace_id: id, start_time: time } of unique) {
    const known = starts.get(id)
    if (known === undefined || time < known) starts.set(id, time)
  }
  const records = unique.map(({ record }) => Buffer.from(record))
  const offsets: number[] = []
  let offset = 1
  for (const { length } of records) {
    offsets.push(offset)
    offset += length
  }
  const texts = (name: 'span_name' | 'session_id' | 'status_code'): (string | null)[] =>
    unique.map(({ [name]: text }) => text && sql.withoutNul(text))
  return [
    [...starts.keys()],
    [...starts.values()],
    unique.map((span) => span.trace_id),
    unique.map((span) => span.span_id),
    unique.map((span) => span.parent_id),
    unique.map((span) => span.trace_type),
    unique.map((span) => span.span_type),
    texts('span_name'),
    unique.map((span) => span.start_time),
    texts('status_code'),
    texts('session_id'),
    Buffer.concat(records),
    offsets,
    records.map(({ length }) => length),
  ]
}
