import { Worker } from 'node:worker_threads'
import { Refusal } from '../../../../errors.ts'
import type { Json } from '../../../../json/json.ts'
import { stringifyJson } from '../../../../json/stringify-json.ts'
import { Semaphore } from '../../../../scheduling/semaphore.ts'
import { emptyFile, rowTooLarge, wrongFormat } from './file-refusal.ts'
import type { FileLimits, FileNotes, FileOptions, FileRow } from './file-row.ts'
import { type TableRecord, TableRows } from './table-rows.ts'
import type { SheetReply, SheetRequest, SheetRow } from './xlsx-thread.ts'

export interface XlsxOptions extends FileOptions {
  /** Whether numbers and booleans stay what they are; else every cell is a string. */
  readonly infer: boolean
  /** The name of the sheet, or its number; the first unless it is given. */
  readonly sheet: string | undefined
  readonly notes: FileNotes
  /** Ends the reading with its reason. */
  readonly signal: AbortSignal | undefined
}

/** An .xlsx file may hold so much, unpacked: its parts are XML that is read as texts, so it costs memory several times over. */
export const MOST_UNPACKED = 64 * 1024 * 1024
export const MOST_CELLS = 10_000_000

/** Threads that read sheets at once, and how many files may wait for one. */
const threads = new Semaphore(2)
const MOST_WAITING = 100

/** Megabytes of memory that a thread may fill with what is in a file. */
const THREAD_MEMORY = 768

/**
 * The rows of a sheet of an .xlsx file, in batches. The first row that holds something names the columns, and rows that hold nothing
 * are skipped. A text is as it is, a number as JSON writes it, a date as `2026-11-27` or `2026-11-27T13:45:00`, a formula what it came
 * to last (interface 8.17). The file is held in memory and read in a thread of its own, so that nothing else waits for it. Refuses what is
 * no such file, and (`limit_exceeded`) what holds more than `MOST_UNPACKED` or `MOST_CELLS`.
 */
export async function* xlsxRows(
  chunks: AsyncIterable<Buffer>,
  { infer, sheet, allowEmpty, notes, signal = new AbortController().signal, ...limits }: XlsxOptions,
): AsyncGenerator<readonly FileRow[]> {
  const bytes = await wholeFile(chunks)
  const release = await threads.acquire({ key: '', signal, mostWaiting: MOST_WAITING })
  if (!release)
    throw new Refusal('overloaded', 'Many .xlsx files wait to be read already. Try again in a moment.')
  const table = new TableRows<SheetRecord>({
    infer,
    notes,
    placeOf: ({ line }, index) => ({ line, column: index + 1 }),
  })
  try {
    for await (const rows of sheetRows({ bytes, sheet }, signal)) {
      yield table.rows(rows.map((row) => recordOf(row, limits)))
    }
  } finally {
    release()
  }
  if (!table.hasHeader && !allowEmpty) throw emptyFile('The sheet has no header, which names the columns')
}

/** A row of a sheet as a table takes it; an empty cell is an empty text. */
interface SheetRecord extends TableRecord {
  readonly values: readonly Json[]
}

function recordOf({ line, values }: SheetRow, { maxRowBytes }: FileLimits): SheetRecord {
  const cells = values.map((value) => (typeof value === 'string' ? value : stringifyJson(value)))
  let bytes = 0
  for (const cell of cells) bytes += cell.length
  if (bytes > maxRowBytes) throw rowTooLarge({ line, column: 1 }, maxRowBytes)
  return { cells, values, line }
}

async function wholeFile(chunks: AsyncIterable<Buffer>): Promise<ArrayBuffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.length
    // What it holds is at least as long, but for a few bytes of each part.
    if (length > MOST_UNPACKED) throw tooLarge()
    pieces.push(chunk)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole.buffer
}

function tooLarge(): Refusal {
  return new Refusal(
    'limit_exceeded',
    `An .xlsx file may hold at most ${MOST_UNPACKED} bytes, unpacked, and ${MOST_CELLS} cells, and this holds more. ` +
      'Save the sheet as CSV, which may be much larger, or split it.',
    { details: { limit_bytes: MOST_UNPACKED, limit_cells: MOST_CELLS } },
  )
}

/** The rows that a thread reads, a batch each time they are asked for. The thread ends with the reading, however that ends. */
async function* sheetRows(
  { bytes, sheet }: Pick<SheetRequest, 'bytes' | 'sheet'>,
  signal: AbortSignal,
): AsyncGenerator<readonly SheetRow[]> {
  const thread = new Worker(new URL('./xlsx-thread.js', import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY },
  })
  try {
    const request: SheetRequest = { bytes, sheet, mostBytes: MOST_UNPACKED, mostCells: MOST_CELLS }
    thread.postMessage(request, [bytes])
    for (;;) {
      const reply = await nextReply(thread, signal)
      if (reply.kind === 'end') return
      if (reply.kind === 'refused') throw wrongFormat(reply.sentence)
      if (reply.kind === 'too large') throw tooLarge()
      yield reply.rows
      thread.postMessage('more')
    }
  } finally {
    await thread.terminate()
  }
}

function nextReply(thread: Worker, signal: AbortSignal): Promise<SheetReply> {
  return new Promise((resolve, reject) => {
    const settle = (action: () => void): void => {
      thread.off('message', onMessage).off('error', onError)
      signal.removeEventListener('abort', onAbort)
      action()
    }
    const onMessage = (reply: SheetReply): void => settle(() => resolve(reply))
    const onError = (error: NodeJS.ErrnoException): void =>
      settle(() =>
        // What a small file makes of memory is known only when it is too much.
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ kind: 'too large' }) : reject(error),
      )
    const onAbort = (): void => settle(() => reject(signal.reason as Error))
    thread.on('message', onMessage).on('error', onError)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}
