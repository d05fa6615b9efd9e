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
 * The program of a thread that works on SQLite files, one piece of work after the other: SQLite waits for the disk, and questions take
 * their time, where no request does. `done` does a piece of work and answers.
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
      // Of a file that somebody removed or replaced in the midst of the work, anything may be said: one part of it is of the other file.
      const told = isUnusable(error) && files.wasReplaced(file) ? new OtherFile(file) : error
      // Whatever went wrong, what is opened next is what then lies there.
      files.forget(file)
      return { id, failure: failureOf(told, file) }
    }
  }
  parentPort?.on('message', (request: ThreadRequest<W> | typeof END) => {
    if (request === END) {
      files.close()
      // With nothing to listen to, it ends.
      parentPort?.close()
    } else if (!ownSignal.isEnding) parentPort?.postMessage(replyTo(request))
  })
}

/** Sets a file aside that is damaged; answers the sentence to tell if so. */
export function setAsideDamaged(
  files: DatabaseFiles<DatabaseFile>,
  path: string,
  why: string,
): string | undefined {
  const aside = files.setAside(path)
  return aside && `${path} is damaged (${why}). It was set aside as ${aside}, and a new one is begun`
}

/** What is told goes to clients as well, whom the folders of the machine do not concern. */
function failureOf(error: unknown, file: string): ThreadFailure {
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(file, basename(file))
  if (error instanceof Refusal) return { kind: 'refusal', code: error.code, message, data: error.data }
  if (isDamage(error)) return { kind: 'storage', message, isDamage: true }
  if (isStorageTrouble(error)) return { kind: 'storage', message, isDamage: false }
  return { kind: 'bug', message, stack: error instanceof Error ? error.stack : undefined }
}
