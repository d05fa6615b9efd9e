import { yieldToEventLoop } from '../../base/scheduling.ts'
import {
  type Fs,
  type LogHandle,
  identityName,
  isDead,
  parseIdentity,
  thisProcess,
} from '../../storage/files.ts'
import { BodyBudget, type BodyShare, FREE_BYTES } from './body-budget.ts'

/** A temporary file, or memory, that takes what arrives. */
export interface Spool {
  /** Refuses with `overloaded` what does not fit beside what others have spooled. */
  append(chunk: Uint8Array): void
  /** Ends the writing; what was appended can be read until `discard`. */
  finish(): Spooled
  /** Gives back its room and removes the file, finished or not; harmless when repeated. */
  discard(): void
}

export interface Spooled {
  readonly bytes: number
  /** The bytes from the first to the last, in pieces of 256 KiB at most with a turn of the event loop after each; again on each call. */
  chunks(): AsyncIterable<Buffer>
}

/**
 * Makes spools in `folder`, which is made if need be; together they hold so many bytes at most. The name of a file says which process it
 * belongs to, so that a later one can tell what nobody will come back for.
 */
export class Spools {
  readonly #fs: Fs
  readonly #folder: string
  readonly #budget: BodyBudget

  constructor(fs: Fs, folder: string, mostBytes: number) {
    this.#fs = fs
    this.#folder = folder
    this.#budget = new BodyBudget(mostBytes)
  }

  /** Room for what is written elsewhere while it arrives. */
  share(): BodyShare {
    return this.#budget.share()
  }

  /** With `inMemory`, what is small is kept there and costs no file. */
  open({ inMemory = false } = {}): Spool {
    const share = this.share()
    let file = inMemory ? undefined : new SpoolFile(this.#fs, this.#folder)
    let held: Uint8Array[] = []
    let bytes = 0
    let isDiscarded = false
    const toFile = (): SpoolFile => {
      if (file) return file
      file = new SpoolFile(this.#fs, this.#folder)
      for (const chunk of held.splice(0)) file.append(chunk)
      return file
    }
    return {
      append: (chunk) => {
        share.hold(bytes + chunk.length)
        bytes += chunk.length
        if (file || bytes > FREE_BYTES) toFile().append(chunk)
        // What comes byte by byte must not be kept so.
        else held = held.length < MAX_PIECES ? [...held, chunk] : [Buffer.concat([...held, chunk])]
      },
      finish: () => {
        file?.close()
        const chunks = (): AsyncIterable<Buffer> => {
          if (isDiscarded) throw new Error('what was spooled is read after it was discarded')
          return file?.chunks(bytes) ?? inOne(held)
        }
        return { bytes, chunks }
      },
      discard: () => {
        share.hold(0)
        held = []
        isDiscarded = true
        file?.remove()
      },
    }
  }
}

/** Appends all of a source to the spool and ends the writing. */
export async function spooled(spool: Spool, source: AsyncIterable<Buffer>): Promise<Spooled> {
  for await (const chunk of source) spool.append(chunk)
  return spool.finish()
}

const MAX_PIECES = 32

async function* inOne(pieces: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  if (pieces.length > 0) yield Buffer.concat(pieces)
}

class SpoolFile {
  readonly #fs: Fs
  readonly #path: string
  readonly #log: LogHandle
  #isOpen = true

  constructor(fs: Fs, folder: string) {
    fs.makeDir(folder)
    this.#fs = fs
    this.#path = `${folder}/${self}.${++spools}`
    this.#log = fs.createLog(this.#path)
  }

  append(chunk: Uint8Array): void {
    this.#log.append(chunk)
  }

  close(): void {
    const wasOpen = this.#isOpen
    this.#isOpen = false
    if (wasOpen) this.#log.close()
  }

  remove(): void {
    try {
      this.close()
    } finally {
      this.#fs.remove(this.#path)
    }
  }

  chunks(bytes: number): AsyncIterable<Buffer> {
    return readChunks(this.#fs, this.#path, bytes)
  }
}

/** Removes the spools of processes that are gone; call it at start. */
export function sweepUploads(fs: Fs, folder: string): void {
  for (const name of fs.readDir(folder) ?? []) {
    const owner = parseIdentity(name)
    if (owner && isDead(owner, folder)) fs.remove(`${folder}/${name}`)
  }
}

const self = identityName(thisProcess())
let spools = 0

const CHUNK = 256 * 1024

async function* readChunks(fs: Fs, path: string, bytes: number): AsyncGenerator<Buffer> {
  const handle = fs.open(path)
  if (!handle) throw new Error(`${path} is gone`)
  try {
    for (let position = 0; position < bytes;) {
      // Fresh for each piece, because the reader may keep parts of it.
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, bytes - position))
      const got = handle.read(chunk, position)
      if (got < chunk.length) throw new Error(`${path} ends after ${position + got} of its ${bytes} bytes`)
      position += got
      yield chunk
      await yieldToEventLoop()
    }
  } finally {
    handle.close()
  }
}
