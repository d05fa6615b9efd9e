import { Worker } from 'node:worker_threads'
import { Refusal } from '../../../errors.ts'
import { type Json, stringifyJson } from '../../../base/json.ts'
import { Semaphore } from '../../../base/scheduling.ts'
import { emptyFile, rowTooLarge, wrongFormat } from './file-refusal.ts'
import type { FileLimits, FileNotes, FileOptions, FileRow } from './file-row.ts'
import { type TableRecord, TableRows } from './table-rows.ts'
import type { SheetReply, SheetRequest, SheetRow } from './xlsx-thread.ts'

export interface XlsxOptions extends FileOptions {
  /** Whether numbers and booleans keep their types; otherwise every cell is a string. */
  readonly infer: boolean
  /** The name or number of the sheet; the first sheet by default. */
  readonly sheet: string | undefined
  readonly notes: FileNotes
  /** Aborts the reading. */
  readonly signal: AbortSignal | undefined
}

/**
 * Limits on the unpacked content of an .xlsx file: its XML parts are read as texts, which takes several times
 * their size in memory.
 */
export const MOST_UNPACKED = 64 * 1024 * 1024
export const MOST_CELLS = 10_000_000

/** Limits the threads that read sheets at once, and the files that wait for one. */
const threads = new Semaphore(2)
const MOST_WAITING = 100

const THREAD_MEMORY_MB = 768

/**
 * Reads the rows of a sheet of an .xlsx file in batches. The first non-empty row names the columns; empty
 * rows are skipped. A text stays unchanged; a number is written as in JSON, a date as `2026-11-27` or
 * `2026-11-27T13:45:00`, a formula as its last result (interface 8.17). The file is held in memory and read
 * in its own thread, so that it does not block the server. Refuses other files, and (`limit_exceeded`) files
 * past `MOST_UNPACKED` or `MOST_CELLS`.
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

/** A row of a sheet as a table record; an empty cell is an empty text. */
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
    // The unpacked content is at least as long as the file, except for a few bytes per part.
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

/** Yields the rows that a thread reads, one batch per request. The thread ends when the reading ends. */
async function* sheetRows(
  { bytes, sheet }: Pick<SheetRequest, 'bytes' | 'sheet'>,
  signal: AbortSignal,
): AsyncGenerator<readonly SheetRow[]> {
  const thread = new Worker(new URL('./xlsx-thread.js', import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MEMORY_MB },
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
        // How much memory a small file needs is known only once it runs out.
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? resolve({ kind: 'too large' }) : reject(error),
      )
    const onAbort = (): void => settle(() => reject(signal.reason as Error))
    thread.on('message', onMessage).on('error', onError)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
  })
}
