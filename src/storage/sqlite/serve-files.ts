import { basename } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { Refusal } from '../../errors.ts'
import type { DatabaseFile } from './database-file.ts'
import type { DatabaseFiles } from './database-file.ts'
import { isDamage, isStorageTrouble, isUnusable, OtherFile } from './sqlite-errors.ts'
import type { ThreadFailure, ThreadReply, ThreadRequest, Works } from './thread-messages.ts'
import { END } from './thread-messages.ts'
import { ownSignal } from './thread-signal.ts'

/**
 * The program of a thread that works on SQLite files, one request at a time, so that waiting for the disk and slow queries block no HTTP
 * request. `done` does the work and returns the answer.
 */
export function serveFiles<W extends Works<W>>(
  files: DatabaseFiles<DatabaseFile>,
  done: (request: ThreadRequest<W>) => unknown,
): void {
  const replyTo = (request: ThreadRequest<W>): ThreadReply => {
    const { id, file } = request
    try {
      return { id, answer: done(request) }
    } catch (error) {
      // If the file was removed or replaced during the work, any error may result, because some pages are of the other file.
      const told = isUnusable(error) && files.wasReplaced(file) ? new OtherFile(file) : error
      // After any error, the file is opened again.
      files.forget(file)
      return { id, failure: failureOf(told, file) }
    }
  }
  parentPort?.on('message', (request: ThreadRequest<W> | typeof END) => {
    if (request === END) {
      files.close()
      // Without a listener, the thread ends.
      parentPort?.close()
    } else if (!ownSignal.isEnding) parentPort?.postMessage(replyTo(request))
  })
}

/** Sets a damaged file aside; answers the message about it, undefined if the file is not damaged. */
export function setAsideDamaged(
  files: DatabaseFiles<DatabaseFile>,
  path: string,
  why: string,
): string | undefined {
  const aside = files.setAside(path)
  return aside && `${path} is damaged (${why}). It was set aside as ${aside}, and a new one is begun`
}

/** Messages go to clients too, so they name the file without its folder. */
function failureOf(error: unknown, file: string): ThreadFailure {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(file, basename(file))
  if (error instanceof Refusal) return { kind: 'refusal', code: error.code, message, data: error.data }
  if (isDamage(error)) return { kind: 'storage', message, isDamage: true }
  if (isStorageTrouble(error)) return { kind: 'storage', message, isDamage: false }
  return { kind: 'bug', message, stack: error instanceof Error ? error.stack : undefined }
}
