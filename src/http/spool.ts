import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Fs } from '../git/fs.ts'
import { identityName, isDead, parseIdentity, thisProcess } from '../git/process-identity.ts'

/** A temporary file that takes what arrives. */
export interface Spool {
  append(chunk: Uint8Array): void
  /** Ends the writing; what was appended can be read until `discard`. */
  finish(): SpooledFile
  /** Removes the file, finished or not; harmless when repeated. */
  discard(): void
}

export interface SpooledFile {
  readonly bytes: number
  /** Of the bytes, in hex. */
  readonly sha256: string
  /** The bytes from the first to the last, in pieces of 256 KiB with a turn of the event loop after each; again on each call. */
  chunks(): AsyncIterable<Buffer>
}

/**
 * Makes an empty spool in `folder`, which is made if need be. Its name says which process it belongs to, so that a later
 * one can tell what nobody will come back for.
 */
export function createSpool(fs: Fs, folder: string): Spool {
  fs.makeDir(folder)
  const path = `${folder}/${self}.${++spools}`
  const log = fs.createLog(path)
  const hash = createHash('sha256')
  let bytes = 0
  let isOpen = true
  const close = (): void => {
    if (isOpen) log.close()
    isOpen = false
  }
  return {
    append: (chunk) => {
      log.append(chunk)
      hash.update(chunk)
      bytes += chunk.length
    },
    finish: () => {
      close()
      return { bytes, sha256: hash.digest('hex'), chunks: () => readChunks(fs, path, bytes) }
    },
    discard: () => {
      close()
      fs.remove(path)
    },
  }
}

/** Removes the spools of processes that are gone; call it at start. */
export function sweepUploads(fs: Fs, folder: string): void {
  for (const name of fs.readDir(folder) ?? []) {
    const owner = parseIdentity(name)
    if (owner && isDead(owner)) fs.remove(`${folder}/${name}`)
  }
}

const self = identityName(thisProcess())
let spools = 0

const CHUNK = 256 * 1024

async function* readChunks(fs: Fs, path: string, bytes: number): AsyncGenerator<Buffer> {
  const handle = fs.open(path)
  if (!handle) throw new Error(`${path} is read after it was discarded`)
  try {
    for (let position = 0; position < bytes;) {
      // Fresh for each piece, because the reader may keep parts of it.
      const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK, bytes - position))
      const got = handle.read(chunk, position)
      if (got < chunk.length) throw new Error(`${path} ends after ${position + got} of its ${bytes} bytes`)
      position += got
      yield chunk
      await nextTurn()
    }
  } finally {
    handle.close()
  }
}
