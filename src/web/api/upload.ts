import { type Answer, addressOf, refused } from './call.ts'
import { Unreachable } from './problem.ts'

/** Routes that take a file. */
export type UploadRoute =
  | 'POST /simple/testsets/upload'
  | 'POST /testsets/revisions/{id}/upload'
  | 'POST /simple/testsets/{id}/upload'

export interface Upload {
  readonly path?: Readonly<Record<string, string>>
  readonly file: File
  /** Texts that are sent beside the file; an empty one is left out. */
  readonly fields: Readonly<Record<string, string>>
  /** The same for a repeated try, so that a file that did arrive is not stored twice. */
  readonly idempotencyKey: string
  /** Told how many bytes have gone out, of how many. */
  readonly onProgress: (sent: number, total: number) => void
  readonly signal: AbortSignal
}

/** Sends a file. Throws a `Problem` with the server's own sentence, `Unreachable`, or the reason of the signal. */
export function upload<R extends UploadRoute>(route: R, it: Upload): Promise<Answer<R>> {
  const { path = {}, file, fields, idempotencyKey, onProgress, signal } = it
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) if (value !== '') form.append(name, value)
  form.append('file', file)
  return new Promise((resolve, reject) => {
    // Only this tells how much of a body has been sent.
    const request = new XMLHttpRequest()
    request.open('POST', addressOf(route, { path } as unknown as Parameters<typeof addressOf<R>>[1]))
    request.setRequestHeader('Idempotency-Key', idempotencyKey)
    request.responseType = 'text'
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded, total)
    request.upload.onload = ({ loaded }) => onProgress(loaded, loaded)
    request.onload = () => {
      const answer = documentOf(request.responseText)
      if (request.status >= 200 && request.status < 300) resolve(answer as Answer<R>)
      else reject(refused(request.status, answer))
    }
    request.onerror = () => reject(new Unreachable())
    signal.addEventListener('abort', () => {
      request.abort()
      reject(signal.reason as Error)
    })
    request.send(form)
  })
}

function documentOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}
